"""The contract of a perturber, and what perturbers share: randomness, values, surfaces, checks, pools."""
