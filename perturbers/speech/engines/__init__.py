"""Speech engines: voices, recognisers and effects, one file an engine; `protocol` says what an engine is, `registry` finds them."""
