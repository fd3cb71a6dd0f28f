"""One folder per published benchmark: recipe, release format, check, scorer, predictor; all that knows its name."""
