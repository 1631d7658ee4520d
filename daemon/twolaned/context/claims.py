"""The statements of what was found, each with where it stands and what it is worth."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from twolaned.context.echo import is_echo, overlaps
from twolaned.context.evidence import Found, Reader, Relation
from twolaned.context.pack import Trust
from twolaned.context.relevance import ENOUGH, TaskTerms
from twolaned.context.statements import Statement, StatementKind, statements
from twolaned.context.subjects import Claim
from twolaned.model.conversation import MessageKind
from twolaned.search.ports import StoreView

WINDOW: Final = 48 << 10
"""Bytes around the best passage of a row in which statements are looked for."""
BLOCK: Final = 16 << 10
"""Windows begin at multiples of this, so that they can be remembered."""
AROUND: Final = 400
"""Bytes before and behind a statement that count as its passage."""
KEPT: Final = 16_384
"""Windows whose statements are remembered."""

_DAY_IN_NAME = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)"
)
_BELIEVED = (Trust.TRACKER, Trust.COMMITTED_DOC)


@dataclass(frozen=True, slots=True)
class Placed:
    """A *statement* that begins at byte *offset* of its row's content."""

    statement: Statement
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A statement of *found*. *own* is the share of the task's terms in its own words.

    *at* is UTC milliseconds, None where nothing says when it was stated. *saved* marks a decision
    that was given to ``Save`` beside the text.
    """

    found: Found
    placed: Placed
    relevance: float
    own: float
    at: int | None
    saved: bool = False

    @property
    def kind(self) -> StatementKind:
        """What it states."""
        return self.placed.statement.kind

    def claim(self) -> Claim:
        """It, in the form in which statements are compared."""
        statement = self.placed.statement
        return Claim(
            text=statement.text,
            kind=self.kind.value,
            row=self.found.row.id,
            order=(self.at or 0, self.placed.offset),
            subject=statement.subject,
            struck=statement.struck,
        )


class StatementCache:
    """Remembers the statements of row versions, whose texts never change. Safe from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int, int], tuple[Placed, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def of(
        self, key: tuple[int, int, int], read: Callable[[], tuple[Placed, ...]]
    ) -> tuple[Placed, ...]:
        """Those of the row version and window *key*, which *read* finds the first time."""
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        found = read()
        with self._lock:
            self._kept[key] = found
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


class Claims:
    """Finds the statements of rows. Belongs to one pack."""

    def __init__(
        self, view: StoreView, terms: TaskTerms, reader: Reader, cache: StatementCache
    ) -> None:
        self._view = view
        self._terms = terms
        self._reader = reader
        self._cache = cache

    def of(self, found: Iterable[Found]) -> list[Stated]:
        """The statements of trackers, documents and what the person typed, of this project."""
        stated: list[Stated] = []
        for one in found:
            # No statement of it could be relevant enough.
            if one.relation is Relation.ELSEWHERE or one.similarity < ENOUGH:
                continue
            if one.is_document:
                if one.judgement.trust in _BELIEVED:
                    stated += self._weighed(one, self._in_document(one))
            elif one.messages:
                stated += self._weighed(one, self._in_messages(one))
                stated += self._saved(one)
            else:
                stated += self._saved(one)
        return stated

    def _in_document(self, found: Found) -> tuple[Placed, ...]:
        start, end = _window(found)
        return self._cache.of(
            (found.number, start, end), lambda: self._read(found.number, start, end)
        )

    def _in_messages(self, found: Found) -> list[Placed]:
        typed = [m for m in found.messages if m.kind is MessageKind.HUMAN and m.on_main_line]
        near = sorted(typed, key=lambda m: abs(m.offset - found.passage.offset))
        room, chosen = WINDOW, []
        for span in near:
            if span.length <= room:
                room -= span.length
                chosen.append(span)
        placed: list[Placed] = []
        for span in sorted(chosen, key=lambda m: m.offset):
            start, end = span.offset, span.offset + span.length
            if overlaps(start, span.length, found.echoes):
                continue
            placed += self._cache.of(
                (found.number, start, end),
                lambda start=start, end=end: self._read(found.number, start, end),  # type: ignore[misc]
            )
        return placed

    def _read(self, number: int, start: int, end: int) -> tuple[Placed, ...]:
        text = self._view.body_slice(number, start, end - start)
        if is_echo(text):
            return ()
        if start and "\ufffd" in text[:3]:  # the window begins inside a character
            broken = len(text[:3]) - len(text[:3].lstrip("\ufffd"))
            text, start = text[broken:], start + broken
        placed = []
        at, offset = 0, start
        for statement in statements(text):
            offset += len(text[at : statement.start].encode())
            at = statement.start
            placed.append(Placed(statement, offset, len(statement.text.encode())))
        return tuple(placed)

    def _weighed(self, found: Found, placed: Iterable[Placed]) -> Iterator[Stated]:
        best = range(found.passage.offset, found.passage.offset + found.passage.length)
        for one in placed:
            statement = one.statement
            own = self._terms.held(f"{statement.heading}\n{statement.text}")
            relevance = found.relevance
            if one.offset not in best:
                if not own:
                    continue
                start = max(one.offset - AROUND, 0)
                around = self._view.body_slice(found.number, start, one.length + 2 * AROUND)
                held = own | self._terms.held(f"{found.row.title}\n{around}")
                relevance = found.similarity * self._terms.share(held)
            yield Stated(
                found=found,
                placed=one,
                relevance=relevance,
                own=self._terms.share(own),
                at=self._time(found, one),
            )

    def _saved(self, found: Found) -> Iterator[Stated]:
        for text in found.row.decisions:
            if is_echo(text) or not text.strip():
                continue
            held = self._terms.held(text)
            yield Stated(
                found=found,
                placed=Placed(Statement(StatementKind.DECISION, text, 0, len(text)), 0, 0),
                relevance=found.similarity * self._terms.share(held),
                own=self._terms.share(held),
                at=found.row.occurred_at,
                saved=True,
            )

    @staticmethod
    def _time(found: Found, placed: Placed) -> int | None:
        said = _day(placed.statement.date)
        if said is not None:
            return said
        if not found.is_document:
            message = found.message(placed.offset)
            at = message[1].at if message else None
            return found.row.occurred_at if at is None else at
        name = _DAY_IN_NAME.search((found.row.path or found.row.id).rpartition("/")[2])
        return (_day("-".join(name.groups())) if name else None) or found.row.occurred_at


def _window(found: Found) -> tuple[int, int]:
    size = found.row.content_bytes
    if size <= WINDOW:
        return 0, size
    middle = found.passage.offset + found.passage.length // 2
    start = max(0, middle - WINDOW // 2) // BLOCK * BLOCK
    return start, min(size, start + WINDOW + BLOCK)


def _day(said: str) -> int | None:
    """The UTC milliseconds of an ISO day; None where it is none."""
    try:
        return int(datetime.fromisoformat(said).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None
