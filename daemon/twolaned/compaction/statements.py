"""What a conversation says, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twolaned.compaction.plan import moment_of
from twolaned.model.conversation import MessageKind, Role
from twolaned.model.row import MessageSpan, Row

SHORTEST = 30
LONGEST = 320
"""Characters of a statement."""
FEWEST_WORDS = 4
FEWEST_CHARACTERS = 12
"""Of a statement in a script without spaces."""
MOST_PER_CONVERSATION = 300
"""Statements of one conversation that are weighed; of a longer one, evenly spread ones."""
DECIDED = 1.5
"""How much more a statement counts that was saved as a decision."""

_FENCE = re.compile(
    r"^[^\S\n]{0,3}(`{3,}|~{3,}).*?(?:^[^\S\n]{0,3}\1[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_MARKS = re.compile(r"^\s*(?:[-*+•>]+|\d{1,3}[.)]|#{1,6}|\|)\s+")
_ENDS = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_BOLD = re.compile(r"(?<!\S)(?:\*\*|__)(?=\S)|(?<=\S)(?:\*\*|__)(?=[\s.,:;!?)]|$)")
_SPACES = re.compile(r"\s+")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_TALK = (MessageKind.HUMAN, MessageKind.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a conversation. *at* is UTC milliseconds, *key* its evidence key."""

    text: str
    key: str
    title: str
    at: int
    role: Role = Role.ASSISTANT
    weight: float = 1.0


def statements_of(row: Row, body: bytes, spans: Sequence[MessageSpan]) -> list[Statement]:
    """The statements of *row*, whose text is *body* in UTF-8: decisions, then what was said."""
    at = moment_of(row)
    found = [
        Statement(_clean(text), row.evidence_key, row.title, at, Role.ASSISTANT, DECIDED)
        for text in row.decisions
        if len(_clean(text)) <= LONGEST and _says_something(_clean(text))
    ]
    said = list(_said(row, body, spans, at))
    if len(said) > MOST_PER_CONVERSATION:
        step = len(said) / MOST_PER_CONVERSATION
        said = [said[int(n * step)] for n in range(MOST_PER_CONVERSATION)]
    return list({s.text: s for s in reversed(found + said)}.values())[::-1]


def _said(row: Row, body: bytes, spans: Sequence[MessageSpan], at: int) -> Iterator[Statement]:
    if not spans:  # a saved note is one text
        for sentence in sentences(body.decode("utf-8", "replace")):
            yield Statement(sentence, row.evidence_key, row.title, at)
    for span in spans:
        if span.kind not in _TALK or not span.on_main_line:
            continue
        text = body[span.offset : span.offset + span.length].decode("utf-8", "replace")
        when = at if span.at is None else span.at
        for sentence in sentences(text):
            yield Statement(sentence, row.evidence_key, row.title, when, span.role)


def sentences(text: str) -> Iterator[str]:
    """The sentences of *text* that can stand alone; code and fragments are left out."""
    for line in _FENCE.sub("", text).split("\n"):
        for part in _ENDS.split(_BOLD.sub("", _MARKS.sub("", line))):
            sentence = _clean(part)
            fits = SHORTEST <= len(sentence) <= LONGEST or _is_dense(sentence)
            if fits and _says_something(sentence):
                yield sentence


def _says_something(sentence: str) -> bool:
    if _is_dense(sentence):
        return True
    words = [word for word in sentence.split() if any(map(str.isalpha, word))]
    letters = sum(map(str.isalpha, sentence))
    return len(words) >= FEWEST_WORDS and letters >= len(sentence) // 2


def _is_dense(sentence: str) -> bool:
    return FEWEST_CHARACTERS <= len(sentence) <= LONGEST and (
        len(_DENSE.findall(sentence)) >= FEWEST_CHARACTERS
    )


def _clean(text: str) -> str:
    return _BOLD.sub("", _SPACES.sub(" ", text).strip()).strip("*_ ")
