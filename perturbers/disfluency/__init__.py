"""Disfluencies of spontaneous speech."""
