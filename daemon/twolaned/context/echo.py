"""Telling earlier packs that were pasted into texts from what people and models wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from twolaned.context.pack import NOTICE
from twolaned.lanes.keyword.analyzer import fold

MARKER: Final = "twolane-context-pack"
"""What every pack's id begins with: found as a phrase wherever a pack was pasted."""

_ID = re.compile(rf"{MARKER}:[0-9a-f]{{8,}}")
_KEYS = (
    "evidence_key",
    "trust_reason",
    "recommended_live_files",
    "current_truth_caveat",
    "past_reasoning",
    "older_memory",
    "other_projects",
    "pack_id",
    "quote",
    "trust",
)
# A pack inside another JSON text, such as a tool's result, has its quotation marks escaped.
_KEY = re.compile(rf"\\*[\"'](?P<key>{'|'.join(_KEYS)})\\*[\"']\s*:")
_SHAPE: Final = 3
"""Different fields of a pack that a text must hold to be taken for one."""
_NOTICE = NOTICE[: NOTICE.index(",")]
_FOLDED_NOTICE = fold(_NOTICE)
PHRASES: Final = (MARKER, _NOTICE)
"""What stands in every pack: a search that excludes these passes by rows that hold one."""


def is_echo(text: str) -> bool:
    """Whether *text* holds a pack, or a piece of one: by its id, its notice or its fields."""
    if MARKER in text and _ID.search(text):
        return True
    # No item of a pack is without these; looking for all fields takes longer.
    may = "evidence_key" in text or "trust" in text
    if may and len({match["key"] for match in _KEY.finditer(text)}) >= _SHAPE:
        return True
    return "archive" in text and _FOLDED_NOTICE in fold(text)


def overlaps(offset: int, length: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the bytes from *offset* on, *length* of them, touch one of *spans*."""
    return any(offset < end and start < offset + length for start, end in spans)
