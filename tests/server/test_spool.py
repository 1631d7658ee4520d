"""Where uploaded bytes wait."""

from __future__ import annotations

import errno
import os
from collections import namedtuple
from pathlib import Path

import pytest

from twolaned.model.errors import DiskFull
from twolaned.server.spool import SpoolFolder


def left(folder: Path) -> list[str]:
    """What lies in *folder*."""
    return sorted(file.name for file in folder.iterdir())


def mode(file: Path) -> int:
    """Who may do what with *file*."""
    return file.stat().st_mode & 0o777


async def test_bytes_lie_in_a_private_file_until_they_were_used(tmp_path: Path) -> None:
    """What was written can be read after finish(), and is gone after the block."""
    async with SpoolFolder(tmp_path).receive(6) as upload:
        await upload.write(b"abc")
        await upload.write(b"def")
        await upload.finish()
        assert b"abcdef" == upload.path.read_bytes()
        assert 0o600 == mode(upload.path)

    assert [] == left(tmp_path)


async def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    """Half an upload is removed."""
    with pytest.raises(RuntimeError):  # noqa: PT012
        async with SpoolFolder(tmp_path).receive(0) as upload:
            await upload.write(b"abc")
            raise RuntimeError

    assert [] == left(tmp_path)


def test_what_a_crash_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """A new start begins with an empty spool."""
    (tmp_path / "upload-x").touch()
    (tmp_path / "other").touch()

    SpoolFolder(tmp_path)

    assert ["other"] == left(tmp_path)


async def test_an_upload_larger_than_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is known before the first byte is sent."""
    free = namedtuple("free", ["f_bavail", "f_frsize"])
    monkeypatch.setattr("os.statvfs", lambda _: free(10, 100))

    with pytest.raises(DiskFull):
        async with SpoolFolder(tmp_path).receive(1_001):
            pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
async def test_a_disk_that_fills_up_is_said(tmp_path: Path) -> None:
    """The system's word for it becomes ours, and the file is gone."""
    async with SpoolFolder(tmp_path).receive(0) as upload:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, upload._file.fileno())
        os.close(full)
        with pytest.raises(DiskFull) as caught:
            await upload.write(b"x")

    assert isinstance(caught.value.__cause__, OSError)
    assert errno.ENOSPC == caught.value.__cause__.errno
    assert [] == left(tmp_path)
