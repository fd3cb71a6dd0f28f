"""The contracts that all of the pipelines share: stages, runners, jobs, recipes, sources, benchmarks, scorers, counters, files and errors."""
