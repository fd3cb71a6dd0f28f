"""The E-commerce Dialogue Corpus (Zhang et al., COLING 2018): ``train.txt``, ``valid.txt`` (or dev), ``test.txt``, a candidate a line.

A line is label TAB utterance TAB ... TAB response, label 1 for the response that was given; the words of an utterance are parted by blanks, the
oldest utterance comes first. Consecutive lines of one context are one dialogue: the customer speaks last before the response, and the speakers
alternate. The wrong responses go along for `cgodial-rbd`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.reading import SPLITS, file_name, load_dialogue, official_split, take
from dialmill.schemas import Dialogue, Turn

DOMAIN = "e-commerce"
_LINE = re.compile(r"[01]\t[^\t\n]+\t[^\t\n]+")
#: A blank that parts two words of a Chinese sentence, not two of letters or digits.
_BLANK = re.compile(r"(?<![A-Za-z0-9]) +| +(?![A-Za-z0-9])")
#: Characters of an utterance that many sessions begin with ("你好，在吗").
_GREETING = 8
_PART = re.compile(r"(?:^|[^a-z])(train|valid|dev|val|test)(?:[^a-z]|$)")


class Ecd(Source):
    """The E-commerce Dialogue Corpus."""

    name = "ecd"
    language = "zh"
    licence = "none stated"
    about = "E-commerce Dialogue Corpus (Chinese): train.txt, valid.txt, test.txt, a context with a right or wrong response a line"

    def role(self, path: str, head: str) -> Role | None:
        first = head.lstrip("\ufeff").split("\n", 1)[0]
        return "dialogues" if file_name(path).endswith((".txt", ".tsv")) and _LINE.match(first) else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8") from None
        stem = file_name(path).rsplit(".", 1)[0]
        part = _PART.search(stem.lower())
        number, context = 0, ""
        record: dict[str, list[str]] = {"context": [], "true": [], "false": []}
        for at, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            label, *texts = line.rstrip("\r").split("\t")
            if label not in ("0", "1") or len(texts) < 2:
                found = "an unknown label" if label not in ("0", "1") else "no response"
                raise InputError(
                    path, f"line {at}: {found}: {line[:40]!r}", "expected 0 or 1, a tab, utterances and a response with tabs between them"
                )
            before = "\t".join(texts[:-1])
            # A second right response opens the next example, also of the same context.
            if record["context"] and (before != context or (label == "1" and record["true"])):
                yield from self._example(stem, number, record, part)
                number, record = number + 1, {"context": [], "true": [], "false": []}
            context = before
            record["context"] = texts[:-1]
            record["true" if label == "1" else "false"].append(texts[-1])
        if record["context"]:
            yield from self._example(stem, number, record, part)

    def _example(self, stem: str, number: int, record: dict[str, list[str]], part: re.Match[str] | None) -> Iterator[tuple[str, Kind, bytes]]:
        source_id = f"{stem}-{number:06d}"
        yield source_id, "dialogue", msgspec.json.encode(record)
        if part is not None:
            yield source_id, "split", SPLITS[part[1]]

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        context, answers, _ = _texts(pieces)
        if not context:
            raise RecordError("empty_dialogue", "context holds no utterance")
        if len(answers) != 1:
            raise RecordError("no_right_response" if not answers else "several_right_responses", " ".join(context)[-80:] or "no context")
        texts = [*context, answers[0]]
        if not all(texts):
            raise RecordError("empty_utterance", f"utterance {texts.index('')} is blank")
        # The response is the shop's; from there the speakers alternate backwards.
        speakers = ["system" if (len(texts) - 1 - at) % 2 == 0 else "user" for at in range(len(texts))]
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=(DOMAIN,),
            turns=tuple(Turn(at, "user" if who == "user" else "system", text) for at, (who, text) in enumerate(zip(speakers, texts, strict=True))),
        )

    def session(self, dialogue: Dialogue) -> str:
        """How the conversation begins: with its first utterance, or where that is as short as a greeting with the first two.

        The corpus has no ids of sessions, and cuts one at several responses: of two such examples the turns of one begin those of the other, so they
        share this. Contexts that begin with the same long utterance go together too, whatever follows.
        """
        first, second = dialogue.turns[0].utterance, dialogue.turns[1].utterance
        return first if len(first) > _GREETING else f"{first}\n{second}"

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        """The wrong responses."""
        return msgspec.msgpack.encode(_texts(pieces)[2])


def joined(text: str) -> str:
    """A segmented utterance as it is written: no blanks but between words of letters or digits."""
    return _BLANK.sub("", " ".join(text.split()))


def _texts(pieces: Sequence[Piece]) -> tuple[list[str], list[str], list[str]]:
    record = load_dialogue(pieces)
    found = []
    for key in ("context", "true", "false"):
        texts = take(record, key, list)
        for at, text in enumerate(texts):
            if not isinstance(text, str):
                raise RecordError("wrong_type", f"{key}[{at}]: expected a string")
        found.append([joined(text) for text in texts])
    return found[0], found[1], found[2]
