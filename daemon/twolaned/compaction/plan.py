"""Which conversations are due for the archive, and which weeks need a digest (retrieval, 9)."""

from __future__ import annotations

from dataclasses import dataclass, field

from twolaned.compaction.weeks import week_of
from twolaned.ingest.drafts import EXTRACTION
from twolaned.model.row import Row, RowKind, Tier
from twolaned.model.source import Extraction

LOCAL_SUFFIX = "-local"


@dataclass(frozen=True, slots=True)
class Period:
    """A week's archived conversations of one kind. *numbers* are their row versions."""

    week: str
    local: bool
    """Whether this is material that must not leave the machine."""
    numbers: tuple[int, ...]

    @property
    def id(self) -> str:
        """The id of the period's digest."""
        return digest_id(self.week, local=self.local)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a compaction does: *due* row versions move, *periods* get a digest."""

    due: tuple[int, ...]
    content_bytes: int
    periods: tuple[Period, ...]


@dataclass(slots=True)
class _Gathered:
    numbers: list[int] = field(default_factory=list)
    has_due: bool = False


class Planner:
    """Looks at every live row once and says what is to be done.

    Conversations indexed before *cutoff* (UTC milliseconds) are due. A period gets a digest if one
    of its conversations is due now, or if it has archived ones and no digest yet; the digest
    covers all of its archived conversations.
    """

    def __init__(self, cutoff: int) -> None:
        self._cutoff = cutoff
        self._due: list[int] = []
        self._bytes = 0
        self._digests: set[str] = set()
        self._periods: dict[tuple[str, bool], _Gathered] = {}

    def look_at(self, row: Row) -> None:
        """Take *row*, of which only the head is needed, into account."""
        if row.kind is RowKind.DIGEST:
            self._digests.add(row.id)
        if row.kind is not RowKind.CONVERSATION:
            return
        due = row.tier is Tier.HOT and row.indexed_at < self._cutoff
        if due:
            self._due.append(row.number)
            self._bytes += row.content_bytes
        if due or row.tier is Tier.COLD:
            period = self._periods.setdefault((week_of(moment_of(row)), is_local(row)), _Gathered())
            period.numbers.append(row.number)
            period.has_due |= due

    def plan(self, *, digests: bool) -> Plan:
        """The plan for all rows seen; without *digests* no period is named."""
        wanted = [
            Period(week, local, tuple(sorted(gathered.numbers)))
            for (week, local), gathered in sorted(self._periods.items())
            if gathered.has_due or digest_id(week, local=local) not in self._digests
        ]
        due = tuple(sorted(self._due))
        return Plan(due, self._bytes, tuple(wanted) if digests else ())


def digest_id(week: str, *, local: bool) -> str:
    """The id of the digest of *week*."""
    return week + LOCAL_SUFFIX if local else week


def moment_of(row: Row) -> int:
    """When a conversation took place: its last message, as far as that is known."""
    for at in (row.occurred_at, row.created_at):
        if at is not None:
            return at
    return row.indexed_at


def is_local(row: Row) -> bool:
    """Whether *row* must not leave the machine."""
    return row.extra.get(EXTRACTION) == Extraction.LOCAL
