from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT

BASELINE = ROOT / "proto" / "baseline.binpb"


def buf(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("buf")
    return subprocess.run(
        [str(program), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the API's files that a test may spoil."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    return tmp_path


def edit(tree: Path, name: str, old: str, new: str) -> None:
    file = tree / "proto" / "twolane" / "v1" / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_api_is_linted() -> None:
    """Names follow buf's standard, and everything a client sees has a comment."""
    done = buf("lint")

    assert (0, "") == (done.returncode, done.stdout)


def test_the_released_api_still_stands() -> None:
    """Clients that were built against the baseline keep working."""
    assert BASELINE.stat().st_size > 0
    done = buf("breaking", "--against", BASELINE)

    assert (0, "") == (done.returncode, done.stdout)


def test_a_missing_comment_is_seen(tree: Path) -> None:
    """The lint that is configured is the one that asks for comments."""
    edit(tree, "admin_service.proto", "  // Where it listens.\n", "")

    assert 'Field "endpoint" should have a non-empty comment' in buf("lint", cwd=tree).stdout


def test_a_renumbered_field_is_seen(tree: Path) -> None:
    """The baseline holds the fields that clients know."""
    edit(tree, "admin_service.proto", "string endpoint = 8;", "string endpoint = 80;")
    done = buf("breaking", "--against", BASELINE, cwd=tree)

    assert done.returncode != 0
    assert 'field "8"' in done.stdout
