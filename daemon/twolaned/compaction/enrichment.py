"""Who writes a digest: nobody, its statements themselves, or a model that is checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

import msgspec

from twolaned.compaction.central import most_central
from twolaned.compaction.digest import STATEMENTS, Line, extractive_lines
from twolaned.compaction.statements import LONGEST, Statement
from twolaned.compaction.weeks import day_of
from twolaned.model.compaction import Enrichment

SHOWN = 40
"""Statements that a model is shown."""
LONGEST_LINE = LONGEST
MOST_SOURCES = 4
"""Statements that one line of a model may stand on."""
GROUNDED = 0.6
"""The share of a line's words that its sources must hold."""
LEAST_KEPT = 0.5
"""The share of a model's lines that must pass; with fewer, none is taken."""

_WORD = re.compile(r"\w+")
_SHORT = 4
"""Characters; shorter words are everybody's."""


class EnrichmentFailed(Exception):
    """The model gave nothing that can be used. The message is a clause that says why."""


class Model(Protocol):
    """A language model."""

    def answer(self, prompt: str, material: str, shape: dict[str, object], /) -> str:
        """What the model answers, JSON of the JSON schema *shape*. Raises EnrichmentFailed."""


class _Said(msgspec.Struct):
    text: str
    sources: list[int]


class _Answer(msgspec.Struct):
    lines: list[_Said]


@dataclass(frozen=True, slots=True)
class Written:
    """A digest's lines, who wrote them, and why the model's were not taken."""

    lines: list[Line]
    provider: Enrichment
    fell_back: str = ""


def write_lines(statements: Sequence[Statement], model: Model | None) -> Written:
    """The lines of a digest of *statements*; without a *model*, or where it fails, their words."""
    chosen = most_central(statements, SHOWN if model is not None else STATEMENTS)
    if model is None or not chosen:
        return Written(extractive_lines(chosen[:STATEMENTS]), Enrichment.EXTRACTIVE)
    try:
        return Written(model_lines(model, chosen), Enrichment.OLLAMA)
    except EnrichmentFailed as e:
        lines = extractive_lines(most_central(statements, STATEMENTS))
        return Written(lines, Enrichment.EXTRACTIVE, str(e))


def model_lines(model: Model, chosen: Sequence[Statement]) -> list[Line]:
    """What *model* makes of the *chosen* statements: those lines that their sources bear out.

    Raises EnrichmentFailed where too few do.
    """
    shown = sorted(chosen, key=lambda s: (s.at, s.key, s.text))
    prompt = (files(__package__) / "digest_prompt.txt").read_text(encoding="utf-8")
    answer = model.answer(prompt.format(lines=STATEMENTS), _material(shown), _shape(len(shown)))
    try:
        said = msgspec.json.decode(answer, type=_Answer).lines
    except msgspec.DecodeError:
        raise EnrichmentFailed("its answer was not of the form that was asked for") from None
    lines = [line for each in said[:STATEMENTS] if (line := _checked(each, shown)) is not None]
    if not lines or len(lines) < LEAST_KEPT * min(len(said), STATEMENTS):
        raise EnrichmentFailed("too little of its answer was borne out by the conversations")
    return sorted(lines, key=lambda line: min(s.at for s in line.sources))


def _material(shown: Sequence[Statement]) -> str:
    return "\n".join(
        msgspec.json.encode(
            {"number": number, "day": day_of(s.at), "title": s.title[:80], "statement": s.text}
        ).decode()
        for number, s in enumerate(shown, 1)
    )


def _shape(count: int) -> dict[str, object]:
    number = {"type": "integer", "minimum": 1, "maximum": count}
    line = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "sources": {"type": "array", "items": number, "minItems": 1, "maxItems": MOST_SOURCES},
        },
        "required": ["text", "sources"],
    }
    lines = {"type": "array", "items": line, "maxItems": STATEMENTS}
    return {"type": "object", "properties": {"lines": lines}, "required": ["lines"]}


def _checked(said: _Said, shown: Sequence[Statement]) -> Line | None:
    """*said* as a line, or None where its sources do not bear it out.

    Every number must stand in a source, and most other words of some length must too.
    """
    text = " ".join(said.text.split())
    numbers = list(dict.fromkeys(said.sources))
    if not (0 < len(text) <= LONGEST_LINE and 0 < len(numbers) <= MOST_SOURCES):
        return None
    if not all(1 <= number <= len(shown) for number in numbers):
        return None
    sources = tuple(shown[number - 1] for number in numbers)
    held = {word for s in sources for word in _words(f"{s.title} {s.text} {day_of(s.at)}")}
    words = _words(text)
    if any(word not in held for word in words if any(map(str.isdigit, word))):
        return None
    stems = {word[:_SHORT] for word in held}
    weighty = [word for word in words if len(word) >= _SHORT]
    borne = sum(word in held or word[:_SHORT] in stems for word in weighty)
    if not weighty or borne < GROUNDED * len(weighty):
        return None
    return Line(text, sources)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
