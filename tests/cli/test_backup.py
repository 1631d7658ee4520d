from __future__ import annotations

import os
from pathlib import Path

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon


def test_where_the_copy_is_is_said(
    run: Run, served: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line; a path counts from where the person is, not the daemon."""
    monkeypatch.chdir(tmp_path)
    ended = run("backup", "copy")

    assert (0, "") == (ended.code, ended.err)
    assert f"Copied 1,204 rows (12 MB) to {tmp_path / 'copy'}\n" == ended.out
    assert str(tmp_path / "copy") == served.last("Backup").path


def test_json_prints_every_message(run: Run, served: FakeDaemon) -> None:
    """The last has done."""
    progress, done = run("backup", "/mnt/copy", "--json").objects

    assert (False, "6000000") == (progress["done"], progress["bytes_done"])
    assert (True, "1204") == (done["done"], done["backup"]["rows"])


def test_a_home_is_found(run: Run, served: FakeDaemon) -> None:
    """Where the shell did not put it in."""
    run("backup", "~/copy")

    assert os.path.expanduser("~/copy") == served.last("Backup").path  # noqa: PTH111


def test_a_place_that_is_taken_is_code_1(run: Run, served: FakeDaemon) -> None:
    """A second backup at once may be tried again."""
    served.failures["Backup"] = Failure(code_pb2.ALREADY_EXISTS, "/mnt/copy exists already.")
    assert 1 == run("backup", "/mnt/copy").code
    served.failures["Backup"] = Failure(
        code_pb2.UNAVAILABLE, "Another backup is being made.", "BACKUP_RUNNING"
    )
    assert 75 == run("backup", "/mnt/copy").code


def test_what_is_no_backup_is_code_1(run: Run, tmp_path: Path) -> None:
    """It needs no daemon, and makes no folder."""
    ended = run("restore", tmp_path, "--into", tmp_path / "into")

    assert (1, "") == (ended.code, ended.out)
    assert "is no backup" in ended.err
    assert not (tmp_path / "into").exists()
    assert 2 == run("restore", tmp_path).code
