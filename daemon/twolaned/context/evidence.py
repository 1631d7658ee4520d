"""What the searches for a pack found, and what it is worth for the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from twolaned.context.echo import is_echo, overlaps
from twolaned.context.relevance import TaskTerms
from twolaned.context.subjects import same_words
from twolaned.context.trust import Judgement
from twolaned.model.conversation import MessageKind
from twolaned.model.row import MessageSpan, Passage, PassageKind, Row, RowKind, Tier
from twolaned.search.ports import StoreView
from twolaned.search.projects import Project
from twolaned.search.results import Standing

MS_A_DAY: Final = 86_400_000
OLD_DAYS: Final = 30
"""Days after which a conversation is an older one; as compaction has it by default."""
LOOKED_AT: Final = 64 << 10
"""Bytes of a message that are looked through for an earlier pack."""
LITTLE: Final = 24
"""Bytes beside a repeated question that answer nothing."""
OTHER_PASSAGES: Final = 60
"""Passages of a row that are tried where its best one is an echo."""


class Relation(IntEnum):
    """Whose a row is, seen from the project that the pack is for."""

    HERE = 0
    UNKNOWN = 1
    """A conversation that does not say where it was held."""
    ELSEWHERE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A row that a search found, with the passage to quote.

    *text* is that passage's. *relevance* is what the rules call so, *held* the task's terms that
    the passage holds. *answers* is how much of the task the passage speaks of, however well other
    rows match. *echoes* are the bytes that repeat an earlier pack.
    """

    number: int
    row: Row
    judgement: Judgement
    relation: Relation
    text: str
    passage: Passage
    similarity: float
    relevance: float
    answers: float
    held: frozenset[str]
    old: bool
    messages: tuple[MessageSpan, ...] = ()
    echoes: tuple[tuple[int, int], ...] = ()

    @property
    def is_document(self) -> bool:
        """Whether it is a file or came inside an export."""
        return self.row.kind is RowKind.DOCUMENT

    def message(self, offset: int) -> tuple[int, MessageSpan] | None:
        """The message that holds the byte *offset*, and its place from 1 on."""
        for place, span in enumerate(self.messages, 1):
            if span.offset <= offset < span.offset + max(span.length, 1):
                return place, span
        return None


def relation_of(row: Row, project: Project | None) -> Relation:
    """Whose *row* is, seen from *project*; without one, everything is here."""
    if project is None:
        return Relation.HERE
    if row.kind is RowKind.DOCUMENT:
        if row.path is not None:
            here = project.holds(row.path.rpartition("/")[0] or "/")
        else:
            here = row.project in project.names
        return Relation.HERE if here else Relation.ELSEWHERE
    if row.cwd:
        return Relation.HERE if project.holds(row.cwd) else Relation.ELSEWHERE
    if row.project:
        return Relation.HERE if row.project in project.names else Relation.ELSEWHERE
    return Relation.UNKNOWN


class Reader:
    """Reads what results stand for. Belongs to one pack.

    With *by_words* a row's similarity says how well it matches the words alone, and counts times
    the share of the task's terms that the passage has.
    """

    def __init__(
        self, view: StoreView, task: str, terms: TaskTerms, *, by_words: bool, as_of: int
    ) -> None:
        self._view = view
        self._task = task
        self._terms = terms
        self._by_words = by_words
        self._as_of = as_of
        self.echoes = 0
        """Rows that had nothing but echoes to quote."""

    def read(
        self,
        standing: Standing,
        judged: Callable[[Row], Judgement],
        related: Callable[[Row], Relation],
    ) -> Found | None:
        """What the row has to quote; None where that is an echo, or the row is gone by now."""
        number = standing.number
        row = self._view.head(number)
        passage = self._view.passage(number, standing.passage) or Passage(0, 0)
        if row is None:
            return None
        messages: tuple[MessageSpan, ...] = ()
        echoes: tuple[tuple[int, int], ...] = ()
        whole = self._view.body_slice(number, passage.offset, passage.length)
        if row.kind is RowKind.CONVERSATION:
            messages = self._view.messages(number)
            near = [m for m in messages if _touches(m, passage)]
            echoes = self._echoes(number, near)
            said = overlaps(passage.offset, passage.length, echoes) or is_echo(whole)
            if said or self._only_asks(number, near, passage):
                echoes = self._echoes(number, messages)
                other = self._other_passage(number, passage, echoes)
                if other is None:
                    self.echoes += 1
                    return None
                passage, whole = other
        elif is_echo(whole):
            self.echoes += 1
            return None
        held = self._terms.held(f"{row.title}\n{row.path or ''}\n{whole}")
        similarity = standing.parts.similarity if standing.parts else 0.0
        at = row.indexed_at if row.occurred_at is None else row.occurred_at
        share = self._terms.share(held)
        old = self._as_of - at > OLD_DAYS * MS_A_DAY
        return Found(
            number=number,
            row=row,
            judgement=judged(row),
            relation=related(row),
            text=whole,
            passage=passage,
            similarity=similarity,
            relevance=similarity * share if self._by_words else similarity,
            answers=share if self._by_words else max(share, similarity),
            held=held,
            old=old or row.tier is Tier.COLD or row.kind is RowKind.DIGEST,
            messages=messages,
            echoes=echoes,
        )

    def _echoes(self, number: int, messages: Sequence[MessageSpan]) -> tuple[tuple[int, int], ...]:
        """The bytes of those *messages* that hold an earlier pack."""
        return tuple(
            (span.offset, span.offset + span.length)
            for span in messages
            if is_echo(self._view.body_slice(number, span.offset, min(span.length, LOOKED_AT)))
        )

    def _only_asks(self, number: int, near: Sequence[MessageSpan], passage: Passage) -> bool:
        """Whether *passage* is the task itself, typed before, and hardly more."""
        rest = passage.length
        for span in near:
            if span.kind is not MessageKind.HUMAN or span.length > 4 * len(self._task) + 64:
                continue
            if same_words(self._view.body_slice(number, span.offset, span.length), self._task):
                rest -= span.length
        return rest < LITTLE

    def _other_passage(
        self, number: int, first: Passage, echoes: Sequence[tuple[int, int]]
    ) -> tuple[Passage, str] | None:
        """The passage but *first*, outside *echoes*, that holds most of the task, if any does."""
        row = self._view.row(number)
        best: tuple[float, Passage, str] | None = None
        for passage in row.passages[:OTHER_PASSAGES] if row else ():
            if passage.kind is not PassageKind.PRIMARY or passage.offset == first.offset:
                continue
            if overlaps(passage.offset, passage.length, echoes):
                continue
            text = self._view.body_slice(number, passage.offset, passage.length)
            share = self._terms.share(self._terms.held(text))
            if share > (best[0] if best else 0.0) and not is_echo(text):
                best = share, passage, text
        return best[1:] if best else None


def _touches(span: MessageSpan, passage: Passage) -> bool:
    return span.offset < passage.offset + passage.length and passage.offset < (
        span.offset + span.length
    )
