"""The strategies of `dialmill.testing`, under the name that our tests use."""

from dialmill.testing.strategies import PARAMS, dialogues, edits, spans, texts, turns

__all__ = ["PARAMS", "dialogues", "edits", "spans", "texts", "turns"]
