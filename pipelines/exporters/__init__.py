"""Suites in the formats of other people's programs: corpora in their published layouts, chats, and tasks of evaluation harnesses."""
