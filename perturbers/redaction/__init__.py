"""Personal data out of dialogues, with surrogates in its place."""
