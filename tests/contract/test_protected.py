"""Tokens that programs read stay as they are, whatever the perturber, its rate, its style and its mode."""

from __future__ import annotations

import pytest
from dialmill.perturbers import names, parse
from dialmill.perturbers.core.protected import lost, ranges
from dialmill.schemas import Dialogue, Turn
from hypothesis import example, given, settings
from hypothesis import strategies as st

#: The hardest options of each perturber; a perturber that isn't here runs with its own defaults.
HARD = {
    # Addresses, paths and identifiers are what it is there to take out (tests/perturbers/test_redaction.py has those that it leaves).
    "redact": ["redact:kinds=card|iban|name"],
    "typos": ["typos:rate=0.9", "typos:rate=0.9,style=chat", "typos:rate=1,style=typing,values=follow"],
    "disfluency": ["disfluency:rate=0.9,repairs=1"],
    "nlpaug": ["nlpaug:rate=0.9", "nlpaug:augmenter=SpellingAug,rate=0.9,values=follow"],
    "speech": ["speech:wer=0.5,engine=text"],
}
SPECS = [spec for name in names() for spec in HARD.get(name, [name])]
PROTECTED = [
    *("__eou__", "<unconvertable>", "[restaurant_name]", "{{name}}", "<b>", "###STOP###", "<|endoftext|>", "participant_1", "mia_li_3668"),
    *("user@mail.org", "https://x.org/a?b=1&c=2", "www.example.com", "ubuntu.com/download", "`ls -la /tmp`", "/usr/share/doc", "--purge", "TR2635"),
    *("foo()", "my_func(x, 1)", "archive.tar.gz", "speaker#1", "mailto:a@b.com", "00:1A:2B:3C:4D:5E", "fe80::1ff:fe23:4567", "2023-05-01T10:00:00Z"),
    *("[your full name]", "[Insert date here]", "{first name}", "[provide reservation ID]"),
    *("v1.2.3", "-rf", "./run.sh", "|||", "[[entity]]", "10.1000/xyz123"),
    *(
        "{% if x %}",
        "{{{raw}}}",
        "{0}",
        "<<NAME>>",
        "%%DATE%%",
        "@@city@@",
        "【姓名】",
        "[First Name, Last Name]",
        "[customer's name]",
        "[Date/Time]",
    ),
    *("<0x0A>", "<｜begin▁of▁sentence｜>", "/reset", "!help", "``a `b` c``", "<code>ls the files please</code>", "<pre>two words</pre>"),
    *("https://en.wikipedia.org/wiki/Foo_(bar)", "bit.ly/3xYzAbC", "shop.online/sale", "magnet:?xt=urn:btih:abc123", "data:image/png;base64,iVBOR"),
    *("git@github.com:foo/bar.git", "dev@localhost", "o'neil@mail.ie", "ça@va.fr", "john(at)doe.com"),
    *(
        "ZFA04K",
        "QHRTWX",
        "10.0.0.7",
        '{"a": {"b": 1}}',
        "👍🏽",
        "😂😂😂",
        "🇨🇳🇺🇸",
        "👨\u200d👩\u200d👧",
        "cafe\u0301s",
        "123e4567-e89b-12d3-a456-426614174000",
    ),
]
FREE = {
    "en": ["please", "could you find me a cheap hotel", "thanks", "i don't know whether that works", "we want to leave on friday", "Yes, the second"],
    "zh": ["麻烦帮我看一下", "我想订一间便宜的酒店", "谢谢您", "这个能不能用呢", "我们周五出发", "好的，第二个吧"],
}


def _dialogue(text: str, language: str) -> Dialogue:
    turn = Turn(turn=0, speaker="user", utterance=text)
    return Dialogue(dialogue_id="d/standard/0", source="x", source_id="d", language=language, domains=("hotel",), turns=(turn,))


@pytest.mark.parametrize("token", PROTECTED)
@pytest.mark.parametrize("sentence", ["ok {} try again please", "麻烦看一下 {} 谢谢", "{}", "see {}, then answer"])
def test_every_kind_of_token_is_known(token: str, sentence: str) -> None:
    text = sentence.format(token)
    assert any(token in text[start:end] for start, end in ranges(text)) or (token in ("ZFA04K", "QHRTWX") and not any(map(str.islower, text)))


@pytest.mark.parametrize(
    "text",
    [
        "a well-known B&B, 50% off, it's 4-star and/or cheap",
        "i 'd like 3 rooms at 7:30pm on the 3rd , please .",
        "I WANT A HOTEL IN LONDON",
        "Hello,i want a taxi.Thanks",
        "我想订3晚，两个人，预算500-1000元，谢谢！",
        "it costs £12.50 - does n't it ?",
        "he said <3 and :-)",
        "a hotel(s) or guesthouse(s) at 12:30:45, the ratio is 3:2:1",
        "great ! thanks, or yes!no; and/or, either / or, he said:yes, let's go~~~ ok~~~",
        "north - not south -please , or - well -",
    ],
)
def test_words_times_and_prices_are_no_such_tokens(text: str) -> None:
    assert ranges(text) == ()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("邮箱是mia@brook.org哦", ["mia@brook.org"]),
        ("账号mia_li_3668在吗", ["mia_li_3668"]),
        ("订单号是ZFA04K吗", ["ZFA04K"]),
        ("预定号QHRTWX了", ["QHRTWX"]),
        ("网址www.foo.com很好，IP是192.168.0.7对吗", ["www.foo.com", "192.168.0.7"]),
        ("用--flag选项看/usr/bin/foo里的v1.2.3版", ["--flag", "/usr/bin/foo", "v1.2.3"]),
        ("看[餐厅_名称]和{{姓名}}吧", ["[餐厅_名称]", "{{姓名}}"]),
        ("代码A1B2是，叫@mia吧，调用get_name()吧", ["A1B2", "@mia", "get_name()"]),
        ("写到mia@公司.cn", ["mia@公司.cn"]),
        ("看https://zh.wikipedia.org/wiki/北京，再说", ["https://zh.wikipedia.org/wiki/北京"]),
        ("见http://例子.测试/路径 吧", ["http://例子.测试/路径"]),
        ("请把【姓名】填好", ["【姓名】"]),
        ("下午3点半要2间房，50元左右", []),
    ],
)
def test_tokens_right_beside_chinese(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in ranges(text)] == tokens


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_perturber_touches_them(spec: str, language: str) -> None:
    perturber = parse(spec).perturber

    @settings(max_examples=25, deadline=None)
    @example(["please", "thanks", "{{name}}"], 0)  # A turn of thanks is composed whole, and the word in the braces reads as one of its words.
    @example(["谢谢您", "{name}"], 0)
    @given(
        st.lists(st.sampled_from([*FREE[language], *PROTECTED]), min_size=1, max_size=7),
        st.integers(0, 9),
    )
    def holds(parts: list[str], seed: int) -> None:
        # Chinese has no blanks between words, and tokens stand right beside them.
        text = ("的" if language == "zh" and seed % 2 else " ").join(parts)
        variant = perturber.perturb(_dialogue(text, language), seed)
        spoken = [turn.utterance for turn in variant.turns if turn.speaker == "user" and not turn.inserted]
        assert spoken and lost(text, spoken[0]) is None, (text, spoken)

    holds()
