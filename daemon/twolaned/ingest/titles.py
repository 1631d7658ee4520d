"""What a document is called: by its front matter, its first heading, or its file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_FRONT_MATTER = re.compile(
    r"\A(?:---[^\S\n]*\n(?P<yaml>.*?\n)??(?:---|\.\.\.)|\+\+\+[^\S\n]*\n(?P<toml>.*?\n)??\+\+\+)"
    r"[^\S\n]*(?:\n|\Z)",
    re.DOTALL,
)
_TITLE = re.compile(r"^title[^\S\n]*[:=][^\S\n]*(\S.*?)[^\S\n]*$", re.MULTILINE | re.IGNORECASE)
_BLOCK = re.compile(r"[>|][-+\d]*\Z")
_HEADING = re.compile(r"[^\S\n]{0,3}#{1,6}[^\S\n]+(.*?\S)(?:[^\S\n]+#+)?[^\S\n]*\Z")
_UNDERLINE = re.compile(r"[^\S\n]{0,3}(?:=+|-+)[^\S\n]*\Z")
_FENCE = re.compile(r"[^\S\n]{0,3}(`{3,}|~{3,})")
_LOOKED_AT = 64 << 10
_LONGEST = 200


def split_front_matter(text: str) -> tuple[str, str]:
    """The lines between the marks at the start of *text*, empty where none are, and the rest."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return "", text
    return match["yaml"] or match["toml"] or "", text[match.end() :]


def title_of(path: str, text: str, syntax: str) -> str:
    """The document's own title, else its file's name."""
    own = ""
    if syntax == "markdown":
        matter, body = split_front_matter(text)
        own = _given(matter) or _first_heading(body[:_LOOKED_AT])
    return own[:_LONGEST].rstrip() or PurePosixPath(path).name


def _given(matter: str) -> str:
    match = _TITLE.search(matter)
    if match is None:
        return ""
    value = match[1]
    if _BLOCK.match(value):  # the words stand on the next line, indented
        following = matter[match.end() :].lstrip("\n").partition("\n")[0]
        value = following if following[:1].isspace() else ""
    return value.strip().strip("\"'").strip()


def _first_heading(body: str) -> str:
    """The first heading outside code; underlined words count where nothing stands above them."""
    fence, above = "", None
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence, above = ("" if fence else mark[1]), ""
            continue
        if fence:
            continue
        heading = _HEADING.match(line)
        if heading and heading[1].strip("# "):
            return heading[1]
        if above and _UNDERLINE.match(line):
            return above
        if line.strip():
            above = line.strip() if above is None else ""
    return ""
