"""CGoDial's slot-based dialogues: recipe, release, check and scorer."""
