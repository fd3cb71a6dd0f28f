"""Builds without a release format of their own: splits of any source, perturbed suites, disentangled logs."""
