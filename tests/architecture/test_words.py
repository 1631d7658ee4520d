from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT

TEXT = {".md", ".proto", ".py", ".pyi", ".sh", ".toml", ".yaml", ".service", ".timer", ".plist", ""}

PATTERNS = {
    "a ticket number": r"\b(?:issue|ticket|bug|PR)s? ?#\d+|\b[\w.-]+/[\w.-]+#\d+|\(#\d+\)",
    "an unfinished note": r"#\s*(?:TODO|FIXME|XXX|HACK)\b(?!\\n)",
    "a machine's path": r"(?<![\w.])/(?:work|root)/\w",
    "a word of how it was made": r"\b(?:helper [A-F]|the brief|the lead|prototypes?)\b|/tmp/plan",
}

HERE = Path(__file__)


def texts() -> Iterator[tuple[Path, str]]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        file = ROOT / name
        if file.suffix in TEXT and file != HERE and file.is_file():
            yield file, file.read_text(encoding="utf-8", errors="replace")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
@pytest.mark.parametrize("what", PATTERNS)
def test_the_tree_speaks_of_the_product_only(what: str) -> None:
    """Code and docs stand for themselves: no ticket numbers, no history of their making."""
    pattern = re.compile(PATTERNS[what])
    found = [
        f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, hit.start()) + 1} {hit.group()}"
        for file, text in texts()
        for hit in pattern.finditer(text)
    ]

    assert [] == found
