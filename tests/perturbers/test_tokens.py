"""Tokens: whole words, whole codes, exact offsets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dialmill.perturbers.core.tokens import tokens
from hypothesis import given, settings
from hypothesis import strategies as st


def words(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in tokens(text, language)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't think so, it's 5.", ["I", "don't", "think", "so", "it's", "5"]),
        ("i 'd like , it does n't matter .", ["i", "'d", "like", "it", "does", "n't", "matter"]),
        ("TR2635 leaves at 17:30 for 10.50 pounds", ["TR2635", "leaves", "at", "17:30", "for", "10.50", "pounds"]),
        ("ping 10.0.0.7, a.b@c.org or http://x.org/a?b=c .", ["ping", "10.0.0.7", "a.b@c.org", "or", "http://x.org/a?b=c"]),
        ("on the [value_area] side of <name>", ["on", "the", "[value_area]", "side", "of", "<name>"]),
        ("call 01223-358966 at 7pm", ["call", "01223-358966", "at", "7pm"]),
        ("a guest-house — café\tWiFi", ["a", "guest", "house", "café", "WiFi"]),
        ("", []),
        (" ?! ", []),
    ],
)
def test_english_tokens(text: str, expected: list[str]) -> None:
    assert words(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我想在苏州找一家酒店，有WiFi吗？", ["我", "想", "在", "苏州", "找", "一家", "酒店", "有", "WiFi", "吗"]),
        ("17:30到，3星级 GTX1660Ti", ["17:30", "到", "3", "星级", "GTX1660Ti"]),
        ("电话0512-66658111。", ["电话", "0512-66658111"]),
    ],
)
def test_chinese_tokens(text: str, expected: list[str]) -> None:
    assert words(text, "zh") == expected


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from("ab I'’dnt7:.-@_[]<> \t\n我想找酒店，A1é")), language=st.sampled_from(["en", "zh"]))
def test_tokens_cover_every_letter_and_digit_once(text: str, language: str) -> None:
    found = tokens(text, language)
    reached = 0
    for start, end in found:
        assert reached <= start < end
        assert not any(char.isalnum() for char in text[reached:start])
        assert not any(char.isspace() for char in text[start:end])
        reached = end
    assert not any(char.isalnum() for char in text[reached:])


def test_jieba_is_silent_and_leaves_no_file(tmp_path: Path) -> None:
    """Its shared cache in the temporary folder may be another user's, or half written; ours does without."""
    code = "from dialmill.perturbers.core.tokens import tokens; print(len(tokens('我想在苏州找酒店', 'zh')))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    )
    assert (result.stdout, result.stderr) == ("6\n", "")
    assert not list(tmp_path.iterdir())


def test_importing_costs_no_dictionary() -> None:
    code = "import sys, dialmill.perturbers.core.tokens; sys.exit('jieba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(sys.path)}).returncode == 0
