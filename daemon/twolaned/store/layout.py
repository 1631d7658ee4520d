"""Where things lie below the data folder, and the names of the tables in the main environment."""

from __future__ import annotations

from pathlib import Path

FORMAT_VERSION = 1
"""What this code writes."""
MIN_READER_VERSION = 1
"""The oldest format version whose readers can still read what this code writes."""

MAIN_MAP_SIZE = 1 << 40
"""Bytes of address space for the main environment. The map is sparse and never grows while it is
open: growing it makes another process's transactions fail. A full disk shows as ENOSPC."""

MAX_READERS = 512
MAX_KEY = 500
"""Bytes of the longest key, a little under LMDB's 511."""

TABLES = (
    "meta",
    "rows",
    "passages",
    "bodies",
    "messages",
    "ids",
    "dead",
    "terms",
    "fresh_terms",
    "log",
    "staged",
    "sources",
    "files",
    "saved",
    "tombstones",
    "buried",
    "filler",
    "moves",
    "compactions",
    "vectors",
    "feedback",
    "opened",
)


def main_path(data: Path) -> Path:
    """The main environment's folder."""
    return data / "store" / "main"


def segments_path(data: Path) -> Path:
    """The folder that holds one folder for each sealed segment."""
    return data / "store" / "segments"


def vectors_path(data: Path) -> Path:
    """The folder that holds one file of vectors for each vector space."""
    return data / "store" / "vectors"


def vector_cache_path(data: Path) -> Path:
    """The environment that keeps vectors by the text that they were made of."""
    return data / "store" / "vector-cache"


def writer_lock_path(data: Path) -> Path:
    """The lock that the one writer process holds."""
    return data / "writer.lock"


def spool_path(data: Path) -> Path:
    """Where uploaded bytes wait for the writer."""
    return data / "spool"
