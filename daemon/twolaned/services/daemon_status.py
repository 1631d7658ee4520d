"""How the daemon is, as `Status` tells it. Times are UTC milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from twolaned.model.query import RankingDate, Similarity
from twolaned.model.result import SearchMode
from twolaned.model.row import RowKind, Tier
from twolaned.search.recall_check import RecallCheck

PROTOCOL = 1
"""What the daemon speaks. A client of another number says so."""


@dataclass(frozen=True, slots=True)
class TierCount:
    """How many rows there are of one kind and tier."""

    kind: RowKind
    tier: Tier
    rows: int


@dataclass(frozen=True, slots=True)
class SourceCount:
    """How many rows came from one source, and the newest time of one."""

    source: str
    rows: int
    newest_at: int | None


@dataclass(frozen=True, slots=True)
class LaneStatus:
    """The state of one lane: ``ready``, ``off`` or ``failing``, and a sentence on it."""

    lane: str
    state: str
    message: str


@dataclass(frozen=True, slots=True)
class RecentError:
    """Something that went wrong, where and when."""

    at: int
    where: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonStatus:
    """Everything that `Status` answers with; the proto says what each field means."""

    version: str
    pid: int
    started_at: int
    uptime_us: int
    start_up_us: int
    data_path: str
    endpoint: str
    config_path: str
    format_version: int
    index_generation: int
    tiers: tuple[TierCount, ...]
    sources: tuple[SourceCount, ...]
    passages: int
    segments: int
    memtable_passages: int
    terms: int
    disk_bytes: int
    disk_free_bytes: int
    memory_bytes: int
    lanes: tuple[LaneStatus, ...]
    mode: SearchMode
    similarity: Similarity
    ranking_date: RankingDate
    writer_state: str
    writer_activity: str
    recent_errors: tuple[RecentError, ...]
    next_action: str
    searches: int
    recall: tuple[RecallCheck, ...] = ()
    protocol: int = PROTOCOL
