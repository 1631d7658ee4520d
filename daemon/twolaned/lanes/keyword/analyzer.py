"""From a text to the terms that it is found by.

What must be findable, and why these choices, was measured on judged questions: pairs of characters
for scripts without spaces, stop words left out of questions only, identifiers both whole and in
parts, Snowball stems.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from twolaned.lanes.keyword.characters import Kind, case_folded, kind_of, runs, without_marks
from twolaned.lanes.keyword.stems import stem, stems
from twolaned.lanes.keyword.stop_words import STOP_WORDS

LONGEST_TERM = 64
"""Characters of a term, so at most 256 bytes of UTF-8. What is longer is cut."""
LONGEST_IDENTIFIER = 160
"""Characters. What is longer is data, such as base64, and is not taken apart."""
HEX_PARTS = 4
"""An identifier of hexadecimal digits that falls into so many parts is a number, such as a hash."""

SEPARATE = bytes(byte if byte >= 0x80 or kind_of(chr(byte)) else 0x20 for byte in range(256))
"""For `bytes.translate`: the ASCII characters that never belong to a word become spaces."""

_PARTS = re.compile(
    r"[A-Z]{2,}s(?![^A-Z\d_])"  # URLs
    r"|[A-Z]+(?=[A-Z][a-z])"  # HTTP of HTTPServer
    r"|[A-Z]?[^A-Z\d_]+|[A-Z]+|\d+"
)
_WORDS = re.compile(r"([A-Za-z]+)(?:\+\+(?![A-Za-z])|#(?![A-Za-z\d_]))|[^+#]+")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")


@dataclass(slots=True)
class Split:
    """What a text is made of. All is folded and nothing is stemmed.

    *words* are whole words and identifiers, and *parts* what identifiers consist of. *signed* are
    words with signs that belong to them, such as ``c++``. *stretches* are of scripts without
    spaces, with the number of characters they are found by.
    """

    words: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    signed: list[str] = field(default_factory=list)
    stretches: list[tuple[int, str]] = field(default_factory=list)


def raw_words(data: bytes) -> list[bytes]:
    """Pieces of a text in UTF-8 that can be analysed one by one."""
    return data.translate(SEPARATE).split()


def analyze(text: str) -> list[str]:
    """The terms of *text* to index, each as often as it occurs.

    Any text is fine: a lone surrogate counts as a question mark.
    """
    terms: list[str] = []
    for raw in raw_words(text.encode("utf-8", "replace")):
        terms += terms_of(raw)
    return terms


def terms_of(raw: bytes) -> list[str]:
    """The terms of one of the pieces that `raw_words` gives."""
    text = raw.decode()
    if text.isalpha() and text.isascii():
        lower = text.lower()
        if text == lower or text[1:] == lower[1:]:
            return [stem(lower[:LONGEST_TERM])]
    split = _split(text)
    terms = stems(split.words + split.parts) + split.signed
    for size, stretch in split.stretches:
        terms += _grams(stretch, size)
        if len(stretch) >= size:
            terms += _grams(stretch, size - 1)
    return terms


def analyze_query(text: str) -> list[str]:
    """The distinct terms of *text* to look for, in order.

    Stop words are left out, unless nothing else is there. Of a script without spaces a single
    character is looked for only where it stands alone: the terms of longer stretches say more.
    """
    kept: dict[str, None] = {}
    dropped: dict[str, None] = {}
    for raw in raw_words(text.encode("utf-8", "replace")):
        split = _split(raw.decode())
        for word in split.words + split.parts:
            (dropped if word in STOP_WORDS else kept)[stem(word)] = None
        kept.update(dict.fromkeys(split.signed))
        for size, stretch in split.stretches:
            kept.update(dict.fromkeys(_grams(stretch, size)))
    return list(kept or dropped)


def fold(text: str) -> str:
    """*text* as phrases are compared: without case and optional marks, white space collapsed."""
    return " ".join(case_folded(without_marks(text)).split())


def _split(text: str) -> Split:
    split = Split()
    if text.isascii():
        _split_words(text, split)
        return split
    for kind, run in runs(without_marks(text)):
        if kind is Kind.WORD:
            _split_words(run, split)
        else:
            split.stretches.append((int(kind), case_folded(run)))
    return split


def _split_words(run: str, split: Split) -> None:
    for match in _WORDS.finditer(run):
        letters: str | None = match[1]
        if letters is not None:
            split.signed.append(case_folded(match[0])[:LONGEST_TERM])
        _split_identifier(match[0] if letters is None else letters, split)


def _split_identifier(identifier: str, split: Split) -> None:
    whole = identifier.strip("_")
    if not whole:
        return
    split.words.append(case_folded(whole)[:LONGEST_TERM])
    if len(whole) > LONGEST_IDENTIFIER:
        return
    parts = _PARTS.findall(whole)
    if len(parts) > 1 and not (len(parts) >= HEX_PARTS and _HEX.fullmatch(whole)):
        split.parts += [case_folded(part)[:LONGEST_TERM] for part in parts]


def _grams(stretch: str, size: int) -> list[str]:
    """All *size* neighbouring characters of *stretch*, or the whole of a shorter one."""
    if len(stretch) <= size:
        return [stretch]
    return [stretch[i : i + size] for i in range(len(stretch) - size + 1)]
