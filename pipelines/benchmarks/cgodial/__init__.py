"""CGoDial (Dai et al., EMNLP 2022): a room for each of its three benchmarks, and what they share."""
