from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT

SAMPLES = ROOT / "samples"
MADE = ("chatgpt-export.zip", "claude-ai-export.zip", "claude-code")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("samples")
    subprocess.run([sys.executable, str(SAMPLES / "make.py"), str(out)], check=True)
    return out


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for name in MADE for path in [folder / name, *(folder / name).rglob("*")])
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths if p.is_file()}


def test_the_sample_archive_is_what_its_texts_give(made: Path) -> None:
    """The committed exports are those that make.py writes, byte for byte."""
    assert files(made) == files(SAMPLES)


def test_the_readme_counts_right() -> None:
    """samples/README.md says how much there is of each kind."""

    def entries(export: str, name: str) -> int:
        return len(json.loads(zipfile.ZipFile(SAMPLES / export).read(name)))

    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    documents = sum(1 for p in (SAMPLES / "slipway").rglob("*") if p.is_file())

    assert f"| {entries('chatgpt-export.zip', 'conversations.json')} conversations |" in readme
    assert f"| {entries('claude-ai-export.zip', 'conversations.json')} conversations," in readme
    assert f"| {len(list(SAMPLES.glob('claude-code/**/*.jsonl')))} sessions |" in readme
    assert f"| {documents} documents |" in readme
