"""Writing down why an answer is what it is."""

from __future__ import annotations

from twolaned.model.result import LaneReceipt, SourceLag
from twolaned.model.row import RowKind, Tier
from twolaned.model.source import Source
from twolaned.search.candidates import LaneWork
from twolaned.search.row_filter import RowFilter, sources_in_reach

_KIND_OF_TIER = {
    Tier.HOT: RowKind.CONVERSATION,
    Tier.COLD: RowKind.CONVERSATION,
    Tier.DOCUMENT: RowKind.DOCUMENT,
    Tier.DIGEST: RowKind.DIGEST,
}


def lane_receipts(work: LaneWork | None) -> tuple[LaneReceipt, ...]:
    """What each lane did. *work* is None where the keyword lane had nothing to look for."""
    if work is None:
        keyword = LaneReceipt(name="keyword", ran=False, skipped_because="no words")
    else:
        keyword = LaneReceipt(
            name="keyword", ran=True, took_us=round(work.seconds * 1e6), candidates=work.rows
        )
    return keyword, LaneReceipt(name="meaning", ran=False, skipped_because="off")


def tiers_searched(tiers: frozenset[Tier], conditions: RowFilter) -> tuple[Tier, ...]:
    """Those of *tiers* that hold rows of the kinds that were asked for."""
    return tuple(t for t in Tier if t in tiers and _KIND_OF_TIER[t] in conditions.kinds)


def lags(conditions: RowFilter, sources: tuple[Source, ...]) -> tuple[SourceLag, ...]:
    """How far the followed folders in reach lag behind their files."""
    return tuple(
        SourceLag(source=source.id, last_scanned_at=source.last_scanned_at)
        for source in sources_in_reach(conditions, sources)
    )
