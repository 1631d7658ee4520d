"""Vectors by the text that they were made of, on disk, shared by both processes.

An LMDB environment of its own. Losing it costs embedding texts again and nothing else, so it is
not forced to disk with every entry, and damage in it reads as absence.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import Final

import lmdb

from twolaned.store.faults import translated

DEFAULT_LIMIT: Final = 2 << 30
"""Bytes that the cache may take on disk."""

_CRC = struct.Struct("<I")
_HALVES: Final = (b"first", b"second")
_MAP_SIZE: Final = 1 << 37
_BEYOND: Final = 64
"""Pages by which the file grows before all that were free are known to be written over."""
_FILLINGS: Final = 512
_SETTLING: Final = 4
_FILLING: Final = 1_900
"""Bytes of a value of which two fill a page."""
_CURRENT: Final = b"current"


class VectorCacheFile:
    """A cache of two halves: the full one stays readable until the other one is full too.

    Safe from any thread and from several processes at once.
    """

    def __init__(self, folder: Path, *, limit: int = DEFAULT_LIMIT, background: bool = False):
        """Open the cache in *folder*, making it. With *background*, writing waits for nobody.

        Raises DiskFull and StoreCorrupt.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._half = limit // 2
        self._folder = folder
        self._open()
        self._writer = ThreadPoolExecutor(1, "vector-cache") if background else None

    def _open(self) -> None:
        with translated():
            self._env = lmdb.open(
                str(self._folder),
                map_size=_MAP_SIZE,
                max_dbs=len(_HALVES),
                mode=0o600,
                metasync=False,
                readahead=False,
                meminit=True,
            )
            self._tables = [self._env.open_db(name) for name in _HALVES]

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of *keys*, in their order."""
        with translated(), self._env.begin(buffers=True) as txn:
            return [self._get(txn, key) for key in keys]

    def put_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep *items*; the oldest leave when there is no more room."""
        if self._writer is None:
            self._put(items)
        else:
            self._writer.submit(self._put, list(items))

    def clear(self) -> None:
        """Forget everything, and write over the pages where it stood.

        Not while another thread uses the cache.
        """
        self._drop()
        # LMDB writes with buffers that it used before, whose contents show in the gaps of a page.
        self._env.close()
        self._open()
        # Twice, since the first round itself writes pages before all that were free are known.
        for _ in range(2):
            self._write_over()

    def _write_over(self) -> None:
        keys = count()
        for _ in range(_SETTLING):  # pages that a transaction frees are used again two later
            self._fill(islice(keys, 1))
        before = self._pages()
        while self._pages() < before + _BEYOND:
            self._fill(islice(keys, _FILLINGS))
        self._drop()

    def _fill(self, keys: Iterable[int]) -> None:
        with translated(self._folder), self._env.begin(write=True, db=self._tables[0]) as txn:
            for key in keys:
                txn.put(key.to_bytes(8, "big"), bytes(_FILLING))

    def _drop(self) -> None:
        with translated(self._folder), self._env.begin(write=True) as txn:
            for table in self._tables:
                txn.drop(table, delete=False)

    def _pages(self) -> int:
        return int(self._env.info()["last_pgno"])

    def close(self) -> None:
        """Finish writing and close the environment."""
        if self._writer is not None:
            self._writer.shutdown()
        self._env.close()

    def _get(self, txn: lmdb.Transaction, key: bytes) -> bytes | None:
        for table in self._tables:
            data = txn.get(key, db=table)
            if data is not None and len(data) >= _CRC.size:
                value = bytes(data[_CRC.size :])
                if zlib.crc32(value) == _CRC.unpack_from(data)[0]:
                    return value
        return None

    def _put(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        with translated(self._folder), self._env.begin(write=True) as txn:
            current = self._current(txn)
            for key, value in items:
                txn.put(key, _CRC.pack(zlib.crc32(value)) + value, db=self._tables[current])

    def _current(self, txn: lmdb.Transaction) -> int:
        """The half to write to: the other one, emptied, where this one is full."""
        current = int(txn.get(_CURRENT) == b"\x01")
        stat = txn.stat(db=self._tables[current])
        pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
        if pages * stat["psize"] < self._half:
            return current
        current = 1 - current
        txn.drop(self._tables[current], delete=False)
        txn.put(_CURRENT, bytes([current]))
        return current
