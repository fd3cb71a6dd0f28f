"""dialmill: dialogue benchmarks, regenerated; and noisy suites of any dialogue corpus, with the labels still right."""
