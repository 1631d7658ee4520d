"""The cache of vectors on disk: shared, bounded, and never worse than nothing."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest

from twolaned.store import vector_cache
from twolaned.store.vector_cache import VectorCacheFile


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_what_was_kept_is_there_after_reopening(tmp_path: Path) -> None:
    """In the order of the keys, with None for what was never kept."""
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        cache.put_many([(key(1), b"one"), (key(2), b"")])
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        assert [b"", None, b"one"] == cache.get_many([key(2), key(3), key(1)])
        cache.put_many([(key(1), b"other")])
        assert [b"other"] == cache.get_many([key(1)])
        cache.clear()
        assert [None, None] == cache.get_many([key(1), key(2)])


def test_another_process_sees_what_was_kept(tmp_path: Path) -> None:
    """While this one has it open."""
    program = (
        "import sys; from pathlib import Path; from twolaned.store import vector_cache as v;"
        "c = v.VectorCacheFile(Path(sys.argv[1])); print(c.get_many([bytes(31) + b'\\x01'])[0]);"
        "c.put_many([(bytes(31) + b'\\x02', b'theirs')]); c.close()"
    )
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        cache.put_many([(key(1), b"ours")])
        said = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip

        assert "b'ours'\n" == said.stdout
        assert [b"theirs"] == cache.get_many([key(2)])


def test_in_the_background_all_is_written_by_the_end(tmp_path: Path) -> None:
    """Closing waits for what was handed over."""
    with contextlib.closing(VectorCacheFile(tmp_path, background=True)) as cache:
        for number in range(50):
            cache.put_many([(key(number), b"x" * 100)])
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        assert None not in cache.get_many([key(n) for n in range(50)])


def test_it_stays_within_its_limit_and_keeps_the_newest(tmp_path: Path) -> None:
    """What was kept lately is there however much came before."""
    limit = 2 << 20
    with contextlib.closing(VectorCacheFile(tmp_path, limit=limit)) as cache:
        for start in range(0, 8_000, 20):
            cache.put_many([(key(n), bytes(2_050)) for n in range(start, start + 20)])
            assert None not in cache.get_many([key(n) for n in range(max(0, start - 100), start)])
        assert [None] == cache.get_many([key(0)])
    # What was freed in a transaction may be used again two later, so that a little more is taken.
    assert (tmp_path / "data.mdb").stat().st_size < 2 * limit


def test_damage_reads_as_absence(tmp_path: Path) -> None:
    """A value whose checksum fails, and one that is too short."""
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        cache.put_many([(key(1), b"fine"), (key(2), b"good")])
    env = lmdb.open(str(tmp_path), max_dbs=2)
    with env.begin(write=True, db=env.open_db(b"first")) as txn:
        sealed = txn.get(key(1))
        txn.put(key(1), sealed[:-1] + b"!")
        txn.put(key(3), b"x")
    env.close()
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        assert [None, b"good", None] == cache.get_many([key(1), key(2), key(3)])


def test_clearing_leaves_no_byte_of_what_was_kept(tmp_path: Path) -> None:
    """Not even in the gaps of a page."""
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache:
        for start in range(0, 2_000, 50):
            cache.put_many([(key(n), b"secret" + bytes(100)) for n in range(start, start + 50)])
        assert b"secret" in (tmp_path / "data.mdb").read_bytes()
        cache.clear()
        assert b"secret" not in (tmp_path / "data.mdb").read_bytes()
        cache.put_many([(key(1), b"new")])
        assert [b"new", None] == cache.get_many([key(1), key(2)])


def test_the_map_is_larger_than_any_limit(tmp_path: Path) -> None:
    """A map that fills up would refuse entries for good."""
    assert 4 * vector_cache.DEFAULT_LIMIT < vector_cache._MAP_SIZE
    with contextlib.closing(VectorCacheFile(tmp_path)) as cache, pytest.raises(TypeError):
        cache.put_many([("text", b"")])  # type: ignore[list-item]
