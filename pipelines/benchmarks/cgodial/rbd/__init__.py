"""CGoDial's retrieval-based dialogues: recipe, release, check and scorer."""
