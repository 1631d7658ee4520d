"""Telling what tools have written from what people have (retrieval, section 5)."""

from __future__ import annotations

import re

_BANNER_LINES = 5
_BANNER = re.compile(
    r"@generated\b"
    r"|\b(?:code|file|document|report|page)?\s*(?:is|was|has been)?\s*"
    r"(?:auto(?:matically)?[- ]?generated|generated automatically)\b"
    r"(?!\s+(?:code|files?)\s+(?:is|are))"
    r"|\bcode generated\b.*\bdo not edit\b"
    r"|\bdo not edit\b.*\b(?:generated|this file|manually|by hand)\b"
    r"|\bgenerated (?:by|from|with) [\w./ -]{2,60}(?:[.;,—–-]\s*)?do not (?:edit|modify)\b"
    r"|<auto-?generated\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"^\s*(?:[#/*;%\"'!<>-]|--|\(\*|REM\b|@|_|\*\*)", re.IGNORECASE)
_SENTENCE = re.compile(
    r"^\s*[*_>]*\s*(?:this|the) (?:file|document|report|page|code) (?:is|was|has been) "
    r"(?:auto-?|automatically )?generated\b",
    re.IGNORECASE,
)
_FRONT_MATTER = re.compile(r"\A---[^\S\n]*\n(.*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL)
_SAYS_SO = re.compile(
    r"^generated[^\S\n]*:[^\S\n]*[\"']?(?:true|yes)[\"']?[^\S\n]*$", re.MULTILINE | re.IGNORECASE
)
_TITLE = re.compile(r"^title[^\S\n]*:[^\S\n]*(.+?)[^\S\n]*$", re.MULTILINE | re.IGNORECASE)


def front_matter(text: str) -> str:
    """The lines between the marks at the start of a Markdown document; empty where none are."""
    match = _FRONT_MATTER.match(text)
    return match[1] if match else ""


def front_matter_title(text: str) -> str:
    """The title that the front matter gives."""
    match = _TITLE.search(front_matter(text))
    return match[1].strip("\"' ") if match else ""


def says_generated(text: str) -> bool:
    """Whether *text* says of itself that a tool wrote it.

    By its front matter, or by a banner in its first five lines: a comment, or a sentence about
    this very file. Prose that speaks of generated files does not count.
    """
    matter = front_matter(text)
    if _SAYS_SO.search(matter):
        return True
    body = text[len(matter) :] if matter else text
    lines = [line for line in body[:4_000].split("\n") if line.strip()][:_BANNER_LINES]
    return any(
        _SENTENCE.match(line) or (_COMMENT.match(line) and _BANNER.search(line)) for line in lines
    )
