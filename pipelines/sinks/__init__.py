"""Output: part files, the folder that is whole or absent, manifest and dataset card."""
