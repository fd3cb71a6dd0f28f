"""RADDLE (Peng et al., ACL 2021): recipe, SOLOIST release, scorer and predictor."""
