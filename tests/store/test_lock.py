"""The locks on the data folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from twolaned.model.errors import StoreLocked
from twolaned.store.lock import FileLock

HOLD = """
import sys
from pathlib import Path
from twolaned.store.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
lock.acquire()
lock.describe("the holder")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_holder_is_told_who_has_it_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    """The lock names its holder and goes away with the process, however that ends."""
    path = tmp_path / "writer.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(StoreLocked, match="the holder"):
            FileLock(path).acquire()
        child.kill()
        child.wait()
    lock = FileLock(path)
    lock.acquire(timeout=5)
    lock.release()
