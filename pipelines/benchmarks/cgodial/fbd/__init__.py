"""CGoDial's flow-based dialogues: recipe, release, check and scorer."""
