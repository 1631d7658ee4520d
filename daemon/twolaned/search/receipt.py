"""Writing down why an answer is what it is."""

from __future__ import annotations

from twolaned.model.result import LaneReceipt, SourceLag
from twolaned.model.row import RowKind, Tier
from twolaned.model.source import Source
from twolaned.search.candidates import LaneWork
from twolaned.search.question import MeaningQuestion
from twolaned.search.row_filter import RowFilter, sources_in_reach

_KIND_OF_TIER = {
    Tier.HOT: RowKind.CONVERSATION,
    Tier.COLD: RowKind.CONVERSATION,
    Tier.DOCUMENT: RowKind.DOCUMENT,
    Tier.DIGEST: RowKind.DIGEST,
}


def keyword_receipt(work: LaneWork | None) -> LaneReceipt:
    """What the keyword lane did. *work* is None where it had nothing to look for."""
    if work is None:
        return LaneReceipt(name="keyword", ran=False, skipped_because="no words")
    return _ran("keyword", work)


def meaning_receipt(question: MeaningQuestion | None, work: LaneWork | None) -> LaneReceipt:
    """What the meaning lane did, embedding the *question* included.

    *question* is None where search by meaning is off, *work* where there were no words to embed.
    """
    because = ""
    if question is None:
        because = "off"
    elif work is None:
        because = "no words"
    elif question.pending:
        because = "pending"
    elif not question.vectors:
        because = str(question.failure.reason) if question.failure else "no vectors"
    if because or question is None or work is None:
        return LaneReceipt(name="meaning", ran=False, skipped_because=because)
    return _ran("meaning", LaneWork(work.seconds + question.seconds, work.rows))


def _ran(name: str, work: LaneWork) -> LaneReceipt:
    return LaneReceipt(name=name, ran=True, took_us=round(work.seconds * 1e6), candidates=work.rows)


def tiers_searched(tiers: frozenset[Tier], conditions: RowFilter) -> tuple[Tier, ...]:
    """Those of *tiers* that hold rows of the kinds that were asked for."""
    return tuple(t for t in Tier if t in tiers and _KIND_OF_TIER[t] in conditions.kinds)


def lags(conditions: RowFilter, sources: tuple[Source, ...]) -> tuple[SourceLag, ...]:
    """How far the followed folders in reach lag behind their files."""
    return tuple(
        SourceLag(source=source.id, last_scanned_at=source.last_scanned_at)
        for source in sources_in_reach(conditions, sources)
    )
