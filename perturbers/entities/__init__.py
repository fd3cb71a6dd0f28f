"""Unseen entities: names, times and codes replaced in text and labels alike."""
