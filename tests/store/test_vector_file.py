"""Vector files: durable before the commit, whole after a kill, damage seen, full disks survived."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import lmdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.model.errors import DiskFull, StoreCorrupt, StoreTooNew
from twolaned.store import vector_file
from twolaned.store.vector_file import PAGE, VectorFile, VectorMap

SPACE = "test/model/4"
ROUNDS = 20
WIDE = 96
"""Dimensions of the rows that the killed writer writes."""


def some(count: int, start: int = 0, dimensions: int = 4) -> np.ndarray:
    """Rows that say which they are."""
    return np.repeat(np.arange(start, start + count, dtype=np.float32)[:, None], dimensions, 1)


def made(path: Path, count: int = 0) -> VectorFile:
    file = VectorFile.create(path, space=SPACE, dimensions=4)
    if count:
        file.append(some(count))
    return file


def opened(path: Path, committed: int) -> VectorFile:
    return VectorFile.open(path, space=SPACE, dimensions=4, committed=committed)


def mapped(path: Path) -> VectorMap:
    return VectorMap(path, space=SPACE, dimensions=4)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 3_000), min_size=1, max_size=8),
    dimensions=st.sampled_from([1, 3, 64, 300]),
)
def test_rows_read_back_as_they_were_appended(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], dimensions: int
) -> None:
    """Bit by bit, after any appends, through maps made at any time and after reopening."""
    path = tmp_path_factory.mktemp("file") / "v"
    rng = np.random.default_rng(len(sizes))
    rows = rng.integers(0, 2**32, (sum(sizes), dimensions), np.uint32).view(np.float32)
    file = VectorFile.create(path, space=SPACE, dimensions=dimensions)
    early = VectorMap(path, space=SPACE, dimensions=dimensions)
    views = []
    for size in sizes:
        count = file.append(rows[file.count : file.count + size])
        views.append(early.rows(count))
    file.close()
    again = VectorFile.open(path, space=SPACE, dimensions=dimensions, committed=len(rows))
    late = VectorMap(path, space=SPACE, dimensions=dimensions)

    for view in [*views, late.rows(len(rows))]:
        assert (view.dtype, view.flags.writeable) == (np.float32, False)
        np.testing.assert_array_equal(view.view(np.uint32), rows[: len(view)].view(np.uint32))
    assert [] == late.damaged(len(rows))
    for each in (again, early, late):
        each.close()


def test_maps_stay_valid_whatever_happens_to_the_file(tmp_path: Path) -> None:
    """Growth, a closed map and a removed name leave an array that is held as it was."""
    file = made(tmp_path / "v", 10)
    reader = mapped(tmp_path / "v")
    before = reader.rows(10)
    file.append(some(1_000_000, 10))
    after = reader.rows(1_000_010)
    (tmp_path / "v").unlink()
    reader.close()
    file.close()

    np.testing.assert_array_equal(some(10), before)
    np.testing.assert_array_equal(some(1_000_010), after)


def test_growth_within_the_filled_part_needs_no_new_map(tmp_path: Path) -> None:
    """A committed append is seen through the map that is there already."""
    file = made(tmp_path / "v", 10)
    reader = mapped(tmp_path / "v")
    first = reader.rows(10)
    file.append(some(90, 10))
    second = reader.rows(100)

    assert np.shares_memory(first, second)
    np.testing.assert_array_equal(some(100), second)
    reader.close()
    file.close()


def test_the_file_grows_ahead_and_never_shrinks(tmp_path: Path) -> None:
    """Sizes only rise, in steps, whatever is rewound, reopened or appended."""
    path = tmp_path / "v"
    file = made(path)
    sizes = [path.stat().st_size]
    for _ in range(200):
        file.append(some(1_000, file.count))
        sizes.append(path.stat().st_size)
    file.rewind(5)
    file.append(some(1, 5))
    file.close()
    again = opened(path, 2)
    again.append(some(1, 2))
    sizes.append(path.stat().st_size)
    again.close()

    assert sorted(sizes) == sizes
    assert len(set(sizes)) < 8
    assert sizes[1] >= 1_000 * 20 + vector_file.SMALLEST_STEP


def test_rows_past_the_committed_count_are_overwritten(tmp_path: Path) -> None:
    """What was written and not committed is gone after the next open, or when it is rewound."""
    path = tmp_path / "v"
    file = made(path, 10)
    file.append(some(20, 900))
    file.close()
    file = opened(path, 10)
    assert 15 == file.append(some(5, 10))
    file.append(some(5, 900))
    file.rewind(15)
    assert 20 == file.append(some(5, 15))
    reader = mapped(path)

    np.testing.assert_array_equal(some(20), reader.rows(20))
    assert [] == reader.damaged(20)
    with pytest.raises(ValueError, match="cannot go back"):
        file.rewind(21)
    reader.close()
    file.close()


def test_a_map_shows_no_more_than_it_is_asked_for(tmp_path: Path) -> None:
    """Rows that are not committed are not in the array, though they are in the file."""
    file = made(tmp_path / "v", 10)
    reader = mapped(tmp_path / "v")

    assert (7, 4) == reader.rows(7).shape
    assert (0, 4) == reader.rows(0).shape
    with pytest.raises(StoreCorrupt) as caught:
        reader.rows(10_000_000)
    assert ["vector file v has fewer than 10000000 rows"] == caught.value.__notes__
    reader.close()
    file.close()


@pytest.mark.parametrize("shape", [(3, 5), (4,), (1, 2, 4)])
def test_only_rows_of_the_space_are_taken(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """A vector of another width is a mistake of the caller."""
    file = made(tmp_path / "v")
    with pytest.raises(ValueError, match="rows of 4 numbers"):
        file.append(np.zeros(shape, np.float32))
    assert 0 == file.count
    file.close()


@pytest.mark.parametrize(
    ("space", "dimensions"), [("", 4), ("x" * 513, 4), ("s", 0), ("s", 65_537)]
)
def test_a_space_has_a_name_and_a_width(tmp_path: Path, space: str, dimensions: int) -> None:
    """Nothing is left of a file that could not be."""
    with pytest.raises(ValueError, match="not a vector space"):
        VectorFile.create(tmp_path / "v", space=space, dimensions=dimensions)
    assert [] == list(tmp_path.iterdir())


def test_a_file_is_not_made_over_another(tmp_path: Path) -> None:
    """The one that is there stays."""
    made(tmp_path / "v", 3).close()
    with pytest.raises(FileExistsError):
        made(tmp_path / "v")
    reader = mapped(tmp_path / "v")
    np.testing.assert_array_equal(some(3), reader.rows(3))
    reader.close()


def broken(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    match how:
        case "missing":
            path.unlink()
            return
        case "empty":
            data.clear()
        case "cut header":
            del data[PAGE - 1 :]
        case "cut rows":
            del data[PAGE + 15 * 20 :]
        case "magic":
            data[0] ^= 1
        case "space":
            data[30] ^= 1
        case "padding":
            data[2_000] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "how", ["missing", "empty", "cut header", "cut rows", "magic", "space", "padding"]
)
def test_a_broken_file_does_not_open(tmp_path: Path, how: str) -> None:
    """Neither for the writer nor, once its rows are asked for, for a reader."""
    path = tmp_path / "v"
    made(path, 16).close()
    broken(path, how)
    with pytest.raises(StoreCorrupt):
        opened(path, 16)
    with pytest.raises(StoreCorrupt), contextlib.closing(mapped(path)) as reader:
        reader.rows(16)


@pytest.mark.parametrize(("space", "dimensions"), [("other", 4), (SPACE, 5)])
def test_a_file_of_another_space_does_not_open(tmp_path: Path, space: str, dimensions: int) -> None:
    """Vectors are only ever compared within their space."""
    made(tmp_path / "v", 16).close()
    with pytest.raises(StoreCorrupt):
        VectorFile.open(tmp_path / "v", space=space, dimensions=dimensions, committed=1)
    with pytest.raises(StoreCorrupt):
        VectorMap(tmp_path / "v", space=space, dimensions=dimensions)


def test_a_later_format_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names both formats."""
    monkeypatch.setattr(vector_file, "VERSION", 7)
    made(tmp_path / "v").close()
    monkeypatch.undo()
    with pytest.raises(StoreTooNew) as caught:
        opened(tmp_path / "v", 0)
    assert {"format": "7", "readable": "1"} == caught.value.metadata


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as f:
        f.seek(offset)
        byte = f.read(1)[0]
        f.seek(offset)
        f.write(bytes([byte ^ 0x10]))


def test_damage_is_found_by_row(tmp_path: Path) -> None:
    """A changed number, a changed checksum, and a row that lies where another belongs."""
    path = tmp_path / "v"
    file = made(path, 1_000)
    file.close()
    flip(path, PAGE + 20 * 7 + 3)
    flip(path, PAGE + 20 * 500 + 17)
    with path.open("r+b") as f:
        f.seek(PAGE + 20 * 30)
        row = f.read(20)
        f.seek(PAGE + 20 * 31)
        f.write(row)
    reader = mapped(path)

    assert [7, 31, 500] == reader.damaged(1_000)
    assert [7] == reader.damaged(30)
    with pytest.raises(StoreCorrupt) as caught:
        reader.checked(np.array([6, 7]), 1_000)
    assert ["row 7 of vector file v"] == caught.value.__notes__
    reader.close()


def test_rewriting_keeps_what_it_is_told_to(tmp_path: Path) -> None:
    """In that order, durable and whole; the old file and its maps stay as they were."""
    file = made(tmp_path / "old", 5_000)
    file.append(some(3, 777_000))
    file.rewind(5_000)
    reader = mapped(tmp_path / "old")
    old = reader.rows(5_000)
    keep = np.random.default_rng(0).permutation(5_000)[:3_000]

    new = file.rewrite(tmp_path / "new", keep)

    assert 3_000 == new.count
    fresh = mapped(tmp_path / "new")
    np.testing.assert_array_equal(some(5_000)[keep], fresh.rows(3_000))
    assert [] == fresh.damaged(3_000)
    assert 3_001 == new.append(some(1))
    np.testing.assert_array_equal(some(5_000), old)
    for each in (file, new, reader, fresh):
        each.close()


def test_rewriting_does_not_carry_damage_over(tmp_path: Path) -> None:
    """A kept row that does not check out ends it, and nothing is left of the new file."""
    file = made(tmp_path / "old", 100)
    flip(tmp_path / "old", PAGE + 20 * 50)
    with pytest.raises(StoreCorrupt):
        file.rewrite(tmp_path / "new", np.arange(100))
    assert ["old"] == [p.name for p in tmp_path.iterdir()]
    file.rewrite(tmp_path / "new", np.delete(np.arange(100), 50)).close()
    file.close()


def test_warming_changes_nothing(tmp_path: Path) -> None:
    """It only asks the system to read ahead."""
    file = made(tmp_path / "v", 100)
    reader = mapped(tmp_path / "v")
    reader.warm(100)
    np.testing.assert_array_equal(some(100), reader.rows(100))
    reader.close()
    file.close()


@pytest.mark.parametrize("failing", ["pwrite", "fdatasync"])
def test_a_failed_append_leaves_the_rows_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """A disk without room says so; with room again it goes on where it was."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = made(tmp_path / "v", 10)
    monkeypatch.setattr(os, failing, full)
    with pytest.raises(DiskFull):
        file.append(some(5, 900))
    monkeypatch.undo()

    assert 10 == file.count
    assert 15 == file.append(some(5, 10))
    reader = mapped(tmp_path / "v")
    np.testing.assert_array_equal(some(15), reader.rows(15))
    reader.close()
    file.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        made_it = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if made_it.returncode:
        pytest.skip(f"mounting is not allowed here: {made_it.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def append_without_end(file: VectorFile) -> None:
    while True:
        file.append(some(5_000, file.count))


def test_a_full_disk_loses_nothing(small_disk: Path) -> None:
    """Rows are taken until there is no room; those are whole, and freed space lets it go on."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(3_000_000))
    file = made(small_disk / "v")
    with pytest.raises(DiskFull):
        append_without_end(file)
    full_at = file.count
    reader = mapped(small_disk / "v")
    before = reader.rows(full_at)

    # Growing ahead took no room away from rows, and a batch that does not fit took none at all.
    assert full_at * 20 > 8_000_000 - 3_000_000 - 5_000 * 20 - 200_000
    made(small_disk / "other").close()
    with pytest.raises(DiskFull):
        file.rewrite(small_disk / "new", np.arange(full_at))
    assert not (small_disk / "new").exists()
    ballast.unlink()
    file.append(some(5_000, full_at))
    np.testing.assert_array_equal(some(full_at), before)
    np.testing.assert_array_equal(some(full_at + 5_000), reader.rows(full_at + 5_000))
    assert [] == reader.damaged(full_at + 5_000)
    del before
    reader.close()
    file.close()


def count_of(env: lmdb.Environment) -> int:
    with env.begin() as txn:
        value = txn.get(b"count")
    return struct.unpack("<Q", value)[0] if value else 0


def write_until_killed(folder: Path) -> None:
    """Append rows of random batches, commit each count in LMDB, and say what is committed."""
    env = lmdb.open(str(folder / "db"), map_size=1 << 24)
    committed = count_of(env)
    path = folder / "v"
    if not path.exists():
        VectorFile.create(path, space=SPACE, dimensions=WIDE).close()
    file = VectorFile.open(path, space=SPACE, dimensions=WIDE, committed=committed)
    random = Random(os.getpid())
    while True:
        count = file.append(some(random.randint(1, 600), file.count, WIDE))
        with env.begin(write=True) as txn:
            txn.put(b"count", struct.pack("<Q", count))
        sys.stdout.write(f"{count}\n")
        sys.stdout.flush()


def run_and_kill(folder: Path, random: Random) -> int:
    """Start the writer, kill it at a random moment, and return the last count that it told."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    told = int(process.stdout.readline())
    killer = threading.Timer(random.uniform(0.0, 0.15), process.kill)
    killer.start()
    for line in process.stdout:
        if line.endswith("\n"):
            told = int(line)
    killer.join()
    assert -signal.SIGKILL == process.wait()
    process.stdout.close()
    return told


@pytest.mark.slow
def test_a_kill_loses_no_committed_row(tmp_path: Path) -> None:
    """Twenty kills at random moments: every told count is committed, every committed row whole."""
    random, leftovers = Random(1), 0
    for _ in range(ROUNDS):
        told = run_and_kill(tmp_path, random)
        env = lmdb.open(str(tmp_path / "db"), map_size=1 << 24)
        committed = count_of(env)
        env.close()
        VectorFile.open(tmp_path / "v", space=SPACE, dimensions=WIDE, committed=committed).close()
        reader = VectorMap(tmp_path / "v", space=SPACE, dimensions=WIDE)
        rows = reader.rows(committed)

        assert committed >= told
        np.testing.assert_array_equal(np.arange(committed, dtype=np.float32), rows[:, 0])
        assert (rows == rows[:, :1]).all()
        assert [] == reader.damaged(committed)
        with contextlib.suppress(StoreCorrupt):
            leftovers += bool(reader.rows(committed + 1)[-1].any())
        del rows
        reader.close()

    # Some kill must have fallen between the append and its commit, or the test shows little.
    assert leftovers


if __name__ == "__main__":
    write_until_killed(Path(sys.argv[1]))
