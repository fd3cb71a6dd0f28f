"""report.html: what a run made, in numbers, pictures and examples, as one file that opens from disk."""
