"""Certified noise between a user and any model: keyed by the conversation, so that it needs no state; an HTTP proxy, and wrappers of users."""
