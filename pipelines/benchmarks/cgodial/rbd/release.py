"""The release files of CGoDial's retrieval-based dialogues."""

from __future__ import annotations

HARD = "release/hard_dialog_id.json"
#: The releases' names of the splits.
SPLITS = {"train": "train", "valid": "dev", "test": "test"}


def placed(path: str, blind: bool) -> str:
    """Where a file goes: test.json tells the answers, and the list of hard examples where baselines are wrong; both stand with the labels where those
    are held out."""
    return f"labels/{path}" if blind and path in ("release/test.json", HARD) else path
