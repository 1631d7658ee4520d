"""What the index is made of at one generation, and the log that leads from one to the next."""

from __future__ import annotations

import msgspec

from twolaned.model.row import Tier
from twolaned.store.records import Unsealer

DEFAULT_AVERAGE_LENGTH = 160.0
"""Terms of an average passage until the first seal measures it."""


class SegmentInfo(msgspec.Struct, frozen=True, array_like=True):
    """A sealed segment: its folder's name, the passages it was built with, its bytes on disk."""

    id: str
    passages: int
    size: int


class VectorFileInfo(msgspec.Struct, frozen=True, array_like=True):
    """One vector space's file: its name in the folder of vectors, and how many rows of it count.

    Whose those rows are stand in the runs of the same name (`VectorRun`), published together with
    the count.
    """

    space: str
    file: str
    count: int = 0
    complete: bool = False
    """Whether every passage that is to have a vector in this space had one when it was last said.
    """
    retiring: bool = False
    """Whether it only answers until the spaces that take its place are complete."""


class VectorRun(msgspec.Struct, frozen=True, array_like=True):
    """Whose vectors stand one behind the other in a file.

    *rows* and *passages* are little-endian uint32 arrays of one length: for each vector the row
    version's number and the passage's index within it.
    """

    rows: bytes
    passages: bytes


class DeadRow(msgspec.Struct, frozen=True, array_like=True):
    """A row version that no longer answers, and what it takes away from the statistics.

    *term_ids* (uint32) and *counts* (uint32) are little-endian arrays: for each term, in how many
    of the row's *passages* it occurs. With them N and df stay those of live passages exactly.
    """

    number: int
    passages: int
    term_ids: bytes
    counts: bytes


class LogRecord(msgspec.Struct, frozen=True, array_like=True):
    """One commit. Its place in the log is its sequence number, which is also the generation.

    *rows* (uint32) are the versions that became live. Where their postings travel in the log
    itself, *passage_rows* (uint32, one row number a passage) and *postings* hold them.
    """

    rows: bytes = b""
    passage_rows: bytes = b""
    postings: bytes = b""
    dead: tuple[DeadRow, ...] = ()
    segments_added: tuple[SegmentInfo, ...] = ()
    segments_removed: tuple[str, ...] = ()
    reclaimed: tuple[int, ...] = ()
    """Dead rows that no segment and no log record holds any more."""
    sealed_seq: int = 0
    """Postings of records up to this one are in segments."""
    sources_changed: bool = False
    moved: bytes = b""
    """Live rows (uint32) that are in the tier *moved_to* from here on."""
    moved_to: Tier | None = None


class Manifest(msgspec.Struct, frozen=True):
    """The state of the index. Published as a whole by the commit that makes it."""

    generation: int = 0
    segments: tuple[SegmentInfo, ...] = ()
    sealed_seq: int = 0
    log_start: int = 1
    """The first sequence number that the log still holds."""
    logged_passages: int = 0
    """Passages whose postings are in the log and in no segment."""
    next_row: int = 0
    next_term: int = 0
    average_length: float = DEFAULT_AVERAGE_LENGTH
    """Terms of an average passage: a constant until a merge of everything measures it anew."""
    average_fixed: bool = False
    compactions: tuple[int, ...] = ()
    """The compactions whose moves count."""
    vectors: tuple[VectorFileInfo, ...] = ()


unseal_record = Unsealer(LogRecord)
unseal_manifest = Unsealer(Manifest)
unseal_vector_run = Unsealer(VectorRun)
unseal_dead = Unsealer(DeadRow)
