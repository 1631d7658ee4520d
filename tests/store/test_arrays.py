"""Bundles of arrays: written once, read without copying, damage seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from twolaned.model.errors import StoreCorrupt
from twolaned.store.arrays import ArrayBundle, write_arrays

DTYPES = st.sampled_from(["u1", "<u2", "<u4", "<u8", "<f4", "<i8"])


@settings(max_examples=30, deadline=None)
@given(
    arrays=st.dictionaries(
        st.text("abcdef", min_size=1, max_size=5),
        DTYPES.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(max_dims=2, min_side=0))),
        max_size=5,
    )
)
def test_arrays_read_back_equal(tmp_path_factory: pytest.TempPathFactory, arrays) -> None:
    """Dtype, shape and contents survive, empty arrays included."""
    path = tmp_path_factory.mktemp("bundle") / "one"
    write_arrays(path, arrays)
    bundle = ArrayBundle(path)
    assert set(arrays) == set(bundle.arrays)
    for name, array in arrays.items():
        assert bundle.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(bundle.arrays[name], array)
    bundle.close()


def test_large_arrays_are_mapped_and_aligned(tmp_path: Path) -> None:
    """A large array is a read-only view of the file, aligned for its type."""
    write_arrays(tmp_path / "b", {"x": np.arange(100_000, dtype=np.uint32)})
    bundle = ArrayBundle(tmp_path / "b")
    x = bundle.arrays["x"]
    assert (x.flags.writeable, x.flags.owndata, x.flags.aligned) == (False, False, True)
    del x
    bundle.close()


def test_unlinking_an_open_bundle_leaves_its_arrays_readable(tmp_path: Path) -> None:
    """A merge may remove a segment's files while a search still reads them."""
    path = tmp_path / "b"
    write_arrays(path, {"x": np.arange(100_000, dtype=np.uint32)})
    bundle = ArrayBundle(path)
    (path / "data.mdb").unlink()
    path.rmdir()
    assert int(bundle.arrays["x"][-1]) == 99_999
    bundle.close()


def test_damage_is_found_by_checksum(tmp_path: Path) -> None:
    """`damaged` names the array whose bytes changed."""
    path = tmp_path / "b"
    write_arrays(path, {"x": np.full(50_000, 0x5A5A5A5A, np.uint32), "y": np.zeros(9)})
    file = path / "data.mdb"
    raw = bytearray(file.read_bytes())
    at = raw.find(b"\x5a" * 64)
    raw[at + 10] ^= 0xFF
    file.write_bytes(raw)
    bundle = ArrayBundle(path)
    assert bundle.damaged() == ["x"]
    bundle.close()


def test_a_missing_or_cut_bundle_is_corrupt(tmp_path: Path) -> None:
    """Neither a folder without its file nor a cut file opens."""
    with pytest.raises(StoreCorrupt):
        ArrayBundle(tmp_path / "nothing")
    path = tmp_path / "b"
    write_arrays(path, {"x": np.arange(1000)})
    (path / "data.mdb").write_bytes(b"")
    with pytest.raises(StoreCorrupt):
        ArrayBundle(path)
