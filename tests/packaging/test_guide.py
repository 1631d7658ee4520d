"""docs/guide.md runs as it stands, and every page's links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT

GUIDE = ROOT / "docs" / "guide.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "samples" / "README.md"])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(#[^)\s]*)?\)")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A working directory with the samples in it, short enough for a socket below it."""
    folder = Path(tempfile.mkdtemp(prefix="tl"))
    shutil.copytree(ROOT / "samples", folder / "samples")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
def test_the_guide_runs(folder: Path) -> None:
    """Each command succeeds, in order, and prints what the guide shows beneath it."""
    env = {
        "HOME": str(folder),
        "TWOLANE_DATA": str(folder / "data"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
    }
    out, ran = "", 0
    try:
        for language, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
            if language == "text":
                assert text.rstrip("\n") in out
                continue
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", text],
                cwd=folder,
                env=env,
                capture_output=True,
                text=True,
                check=False,
                timeout=100,
            )
            out, ran = done.stdout + done.stderr, ran + 1
            assert done.returncode == 0, f"{text}\n{out}"
    finally:
        command = [sys.executable, "-m", "twolane", "daemon", "stop"]
        subprocess.run(command, env=env, check=True, timeout=60, capture_output=True)
    assert ran >= 10


def anchors(page: Path) -> set[str]:
    """The link targets that Markdown readers make of the headings of *page*."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Files that a page names exist, and so do the headings."""
    for name, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {name}"
        if heading:
            assert heading.removeprefix("#") in anchors(target), f"{page.name}: {name}{heading}"
