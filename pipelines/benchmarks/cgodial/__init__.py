"""What the CGoDial benchmarks (Dai et al., EMNLP 2022) need beyond sources and perturbers: examples of retrieval, and the slot-based release."""
