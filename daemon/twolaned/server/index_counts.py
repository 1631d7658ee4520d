"""How much there is of what, without counting it anew for every call."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from twolaned.model.row import RowKind, Tier
from twolaned.search.snapshot import IndexSnapshot
from twolaned.services.daemon_status import SourceCount, TierCount
from twolaned.store import Store


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What the store says of itself."""

    format_version: int
    segments: int
    logged_passages: int
    terms: int
    disk_bytes: int

    @classmethod
    def read(cls, store: Store) -> StoreCounts:
        """Ask *store*: a few keys, and the size of a few files. Blocks."""
        with store.view() as view:
            manifest = view.manifest
            return cls(
                format_version=view.format_version,
                segments=len(manifest.segments),
                logged_passages=manifest.logged_passages,
                terms=view.count_terms(),
                disk_bytes=store.disk_bytes(),
            )


class IndexCounts:
    """Rows by tier and by source, counted once for each generation."""

    def __init__(self) -> None:
        self._generation = -1
        self._tiers: tuple[TierCount, ...] = ()
        self._sources: tuple[SourceCount, ...] = ()

    def of(self, snapshot: IndexSnapshot) -> tuple[tuple[TierCount, ...], tuple[SourceCount, ...]]:
        """The counts of *snapshot*."""
        if snapshot.generation != self._generation:
            self._count(snapshot)
            self._generation = snapshot.generation
        return self._tiers, self._sources

    def _count(self, snapshot: IndexSnapshot) -> None:
        tiers: dict[tuple[RowKind, Tier], int] = defaultdict(int)
        sources: dict[str, tuple[int, int]] = {}
        for tally in snapshot.rows.tallies():
            tiers[tally.kind, tally.tier] += tally.rows
            rows, newest = sources.get(tally.source, (0, tally.newest_at))
            sources[tally.source] = (rows + tally.rows, max(newest, tally.newest_at))
        self._tiers = tuple(TierCount(*key, rows) for key, rows in sorted(tiers.items()))
        self._sources = tuple(
            SourceCount(name, rows, newest) for name, (rows, newest) in sorted(sources.items())
        )
