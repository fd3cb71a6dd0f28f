"""Runs on other engines than the in-memory one: what can be tested without them stands here, and `.ci/engines` runs them themselves."""
