"""What a search answers, and why it is what it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from twolaned.model.query import RankingDate, Similarity
from twolaned.model.row import PassageKind, Quality, RowKind, Tier


class SearchMode(StrEnum):
    """HYBRID runs both lanes; LEXICAL is the keyword lane alone because meaning is off."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"


class FoundBy(StrEnum):
    """Which lanes found a row."""

    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class LaneHits:
    """A lane's best distinct rows, best first; equal scores stand in order of row id.

    *rows* (uint32) are row numbers, *scores* (float32) each row's best passage's score,
    *passages* (uint32) the index of that passage within its row. *exhausted* is True when the
    lane had no further matching row.
    """

    rows: NDArray[np.uint32]
    scores: NDArray[np.float32]
    passages: NDArray[np.uint32]
    exhausted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """The terms of the score before their weights (retrieval rules, section 3)."""

    similarity: float
    recency: float
    quality: float
    tier: float
    outcome: float
    found_both_ways: float
    freshness: float
    bm25: float | None = None
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Characters (Unicode code points) *start* to *end* of a snippet."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """At most 400 characters around the best passage, with the matched words marked.

    *offset* and *length* say which bytes of the row's body the snippet was cut from.
    """

    text: str
    matches: tuple[Span, ...]
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One row of an answer."""

    id: str
    evidence_key: str
    kind: RowKind
    tier: Tier
    source: str
    title: str
    project: str | None
    path: str | None
    quality: Quality
    generated: bool
    score: float
    found_by: FoundBy
    snippet: Snippet
    passage_kind: PassageKind
    passage_offset: int
    passage_length: int
    summary: str
    content_bytes: int
    token_estimate: int
    indexed_at: int
    occurred_at: int | None
    duplicate_count: int = 0
    duplicate_ids: tuple[str, ...] = ()
    parts: ScoreParts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneReceipt:
    """What one lane did. *took_us* is microseconds."""

    name: str
    ran: bool
    took_us: int = 0
    candidates: int = 0
    skipped_because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLag:
    """How far one source in reach is behind its files. *pending_files* is -1 when not known."""

    source: str
    last_scanned_at: int | None
    pending_files: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Why an answer is what it is."""

    index_generation: int
    mode: SearchMode
    similarity: Similarity
    ranking_date: RankingDate
    lanes: tuple[LaneReceipt, ...]
    tiers_searched: tuple[Tier, ...]
    rows_in_reach: int
    second_pass: bool = False
    """True when the archive was searched because the first pass was weak or empty."""
    lags: tuple[SourceLag, ...] = ()
    degraded: bool = False
    degraded_reason: str = ""
    degraded_message: str = ""
    took_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """One message of a search's stream; the last one has *final* True."""

    results: tuple[SearchResult, ...]
    receipt: Receipt
    final: bool = True
    ignored: tuple[str, ...] = ()
    """Parts of the query that were read as plain text though they look like filters."""
