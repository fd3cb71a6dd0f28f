"""Redaction: what is found and what isn't, surrogates of the same shape, labels left alone or changed alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.redaction.finders import find, is_card, is_iban
from dialmill.perturbers.redaction.perturber import Redact
from dialmill.perturbers.redaction.written import one_form
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.validate import check_dialogue
from hypothesis import given
from hypothesis import strategies as st

import dialmill as dm

pytest.importorskip("phonenumbers")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail ann.lee+x@foo.co.uk, please", [("email", "ann.lee+x@foo.co.uk")]),
        ("it is john at gmail dot com", [("email", "john at gmail dot com")]),
        ("see https://foo.org/a?b=1. Or www.bar.de, or baz.com/x", [("url", "https://foo.org/a?b=1"), ("url", "www.bar.de"), ("url", "baz.com/x")]),
        ("from 192.168.0.7 and fe80::1ff:fe23:4567:890a", [("ip", "192.168.0.7"), ("ip", "fe80::1ff:fe23:4567:890a")]),
        ("card 4111 1111 1111 1111.", [("card", "4111 1111 1111 1111")]),
        ("at 16:30 4111 1111 1111 1111 20 for 4 4012888888881881 nights", [("card", "4111 1111 1111 1111"), ("card", "4012888888881881")]),
        ("I'm sleepy my name is Li Wei.", [("name", "Li Wei")]),
        ("我叫个车，我是苏州人，我是会员", []),
        ("not a card: 4111 1111 1111 1112", []),
        ("IBAN GB82 WEST 1234 5698 7654 32", [("iban", "GB82 WEST 1234 5698 7654 32")]),
        ("IBAN GB83 WEST 1234 5698 7654 32", []),
        ("call +44 1632 960123 or 01632 960 456", [("phone", "+44 1632 960123"), ("phone", "01632 960 456")]),
        ("手机13800138000，座机010-62345678", [("phone", "13800138000"), ("phone", "010-62345678")]),
        ("order #W2378156 for mia_li_3668", [("id", "#W2378156"), ("id", "mia_li_3668")]),
        ("My name is Anna Bell and i'm looking for a hotel", [("name", "Anna Bell")]),
        ("I'm Looking for it. i am sorry", []),
        ("我叫王小明，想订酒店", [("name", "王小明")]),
        ("a table for 4 at 17:30 on 2024-05-01, about 12.50 pounds, the 100th 1080p 4-star one", []),
        ("e.g. this is it, i.e. that", []),
    ],
)
def test_what_is_personal_and_what_is_not(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.text) for one in find(text, region="CN" if "手机" in text else "GB")] == expected


@given(st.from_regex(r"[a-z]{1,8}\.[a-z]{1,8}@[a-z]{2,8}\.(?:com|org)", fullmatch=True), st.text(alphabet="abc ,.", max_size=20))
def test_an_address_is_found_wherever_it_stands_and_is_gone(address: str, around: str) -> None:
    text = f"{around} {address} {around}"
    assert any(one.kind == "email" and one.text == address for one in find(text))
    made = dm.noise(text, "redact:kinds=email", seed=1, language="en").text
    assert address not in made and "example.com" in made


@pytest.mark.parametrize("kind", ["card", "iban"])
def test_check_digits_hold(kind: str) -> None:
    text, holds = ("4111 1111 1111 1111", is_card) if kind == "card" else ("DE89 3704 0044 0532 0130 00", is_iban)
    for seed in range(20):
        made = dm.noise(f"it is {text}", f"redact:kinds={kind}", seed=seed).text.removeprefix("it is ")
        assert made != text and len(made) == len(text) and holds(made)


def _dialogue() -> Dialogue:
    first, second = "I'm Anna, my reference is ABC123X and my mail a@b.com", "Thanks Anna, I wrote to a@b.com about ABC123X"
    span = Span(first.index("ABC123X"), first.index("ABC123X") + 7, "ABC123X", "hotel", "ref", "ABC123X")
    return Dialogue(
        dialogue_id="d",
        source="s",
        source_id="d",
        domains=("hotel",),
        turns=(
            Turn(
                0,
                "user",
                first,
                spans=(span,),
                acts=(Act("inform", "hotel", "ref", "ABC123X"),),
                state=(SlotValues("hotel", "ref", ("ABC123X",)),),
            ),
            Turn(1, "system", second),
        ),
    )


def test_a_value_has_one_surrogate_on_both_sides_and_labels_stay() -> None:
    made = Redact().perturb(_dialogue(), 1)
    assert check_dialogue(made) == []
    first, second = (turn.utterance for turn in made.turns)
    assert "Anna" not in first + second and "a@b.com" not in first + second and first.count("ABC123X") == second.count("ABC123X") == 1
    mail = first.rpartition(" ")[2]
    assert mail in second and made.turns[0].state == _dialogue().turns[0].state
    assert made.turns[0].utterance[made.turns[0].spans[0].start : made.turns[0].spans[0].end] == "ABC123X"


def test_labelled_values_are_replaced_in_text_and_labels_alike() -> None:
    made = Redact(labelled="replace").perturb(_dialogue(), 1)
    assert check_dialogue(made) == [] and "ABC123X" not in str(
        [made.turns[0].acts, made.turns[0].state, made.turns[0].utterance, made.turns[1].utterance]
    )
    new = made.turns[0].acts[0].value
    assert new and made.turns[0].spans[0].text == new == made.turns[0].state[0].values[0] and new in made.turns[1].utterance


def test_a_value_has_the_same_surrogate_in_every_dialogue_of_a_run() -> None:
    one, other = (dm.noise(text, "redact", seed=3).text.rpartition(" ")[2] for text in ("write to x@y.org", "or is it x@y.org"))
    assert one == other != dm.noise("write to x@y.org", "redact", seed=4).text.rpartition(" ")[2]


def test_placeholders_and_listed_names(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Rosalind\n王五\n", "utf-8")
    spec = f"redact:style=placeholder,names={tmp_path / 'names.txt'}"
    assert dm.noise("ask rosalind or a@b.com", spec, seed=1).text == "ask [NAME] or [EMAIL]"
    assert dm.noise("Rosalinda is another", spec, seed=1).text == "Rosalinda is another"


@pytest.mark.parametrize("token", ["__eou__", "<unconvertable>", "[restaurant_name]", "{{name}}", "<b>", "###STOP###", "<|endoftext|>", "--purge"])
def test_tokens_of_corpora_and_programs_are_not_personal(token: str) -> None:
    assert find(f"well {token} then") == []


@pytest.mark.parametrize(("given", "said"), [("kinds=mail", "kinds are email, url"), ("names=/nowhere", "/nowhere"), ("style=x", "style")])
def test_options_that_name_nothing_are_refused(given: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        dm.noise("x", f"redact:{given}", seed=1)


_SPELLINGS = {
    "en": [
        ("phone", "01632960123", "01632 960123", ["+44 1632 960123", "(01632) 960-123", "01632-960-123"]),
        ("email", "mia.li@brook.org", "Mia.Li@Brook.org", ["MIA.LI@BROOK.ORG", "mia dot li at brook dot org"]),
        ("card", "4539578763621486", "4539 5787 6362 1486", ["4539-5787-6362-1486", "4539578763621486"]),
    ],
    "zh": [
        ("phone", "13800138000", "138 0013 8000", ["+86 138-0013-8000", "13800138000"]),
        ("email", "mia@brook.org", "Mia@brook.org", ["mia@BROOK.org"]),
    ],
}


@pytest.mark.parametrize(("language", "kind", "value", "said", "others"), [(language, *one) for language, some in _SPELLINGS.items() for one in some])
def test_all_writings_of_a_datum_are_one(language: str, kind: str, value: str, said: str, others: list[str]) -> None:
    """They get one surrogate, each in its writing, and the label has it too; with exempt labels none of them is touched."""
    before, between = ("it is ", ", or ") if language == "en" else ("是", "，或者")
    label = SlotValues("hotel", kind, (value,))
    first = Turn(0, "user", before + said, spans=(Span(len(before), len(before) + len(said), said, "hotel", kind, value),), state=(label,))
    answer = Turn(1, "system", before + between.join(others))
    dialogue = Dialogue(dialogue_id="a/standard/0", source="s", source_id="a", language=language, turns=(first, answer), domains=("hotel",))
    assert Redact().perturb(dialogue, 1).turns == dialogue.turns
    region = "CN" if language == "zh" else "GB"
    for seed in range(3):
        made = Redact(labelled="replace").perturb(dialogue, seed)
        new = made.turns[0].state[0].values[0]
        shown = [made.turns[0].utterance.removeprefix(before), *made.turns[1].utterance.removeprefix(before).split(between)]
        assert {one_form(kind, one, region) for one in (new, *shown)} == {one_form(kind, new, region)} != {one_form(kind, value, region)}
        assert made.turns[0].spans[0].value == new and made.turns[0].spans[0].status == "kept"
        assert [re.sub(r"\w", "", one) for one in shown] == [re.sub(r"\w", "", one) for one in (said, *others)] or kind == "email"
