"""A plug-in of dialmill: a perturber, a source, a benchmark and an engine."""
