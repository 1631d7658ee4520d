"""Sorting what was found into the buckets of a pack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from twolaned.context.claims import Stated
from twolaned.context.evidence import Found, Relation
from twolaned.context.items import Items
from twolaned.context.pack import Bucket, Intent, Item, Omission, Omitted, Shelf, Trust
from twolaned.context.relevance import ENOUGH
from twolaned.context.statements import StatementKind
from twolaned.context.subjects import Contest, contests, same_words

_LAST: Final = (
    Bucket.CONFLICTS,
    Bucket.PAST_REASONING,
    Bucket.OLDER_MEMORY,
    Bucket.OTHER_PROJECTS,
    Bucket.DISCOUNTED,
)
ORDER: Final[dict[Intent, tuple[Bucket, ...]]] = {
    Intent.CURRENT_TRUTH: (
        Bucket.CURRENT_TRUTH,
        Bucket.DECISIONS,
        Bucket.CONSTRAINTS,
        Bucket.RULES,
        Bucket.EXAMPLES,
        *_LAST,
    ),
    Intent.REASONING_ARCHIVE: (
        Bucket.DECISIONS,
        Bucket.PAST_REASONING,
        Bucket.EXAMPLES,
        Bucket.CONSTRAINTS,
        Bucket.RULES,
        Bucket.CURRENT_TRUTH,
        *(bucket for bucket in _LAST if bucket is not Bucket.PAST_REASONING),
    ),
    Intent.BLENDED: (
        Bucket.DECISIONS,
        Bucket.CONSTRAINTS,
        Bucket.CURRENT_TRUTH,
        Bucket.RULES,
        Bucket.EXAMPLES,
        Bucket.PAST_REASONING,
        *(bucket for bucket in _LAST if bucket is not Bucket.PAST_REASONING),
    ),
}
"""In which order the buckets stand; what is dropped is dropped from the end."""

_WORTH = {
    Trust.LIVE_STATE: 1.0,
    Trust.TRACKER: 0.95,
    Trust.COMMITTED_DOC: 0.8,
    Trust.DISCUSSION: 0.75,
    Trust.DISCOUNTED: 0.5,
}
"""What relevance counts for where sources of different trust stand in one bucket."""
_BUCKET_OF = {
    StatementKind.DECISION: Bucket.DECISIONS,
    StatementKind.CONSTRAINT: Bucket.CONSTRAINTS,
    StatementKind.RULE: Bucket.RULES,
    StatementKind.TODO: Bucket.CURRENT_TRUTH,
}
WEIGHED: Final = 24
"""Statements that are compared with one another, the most relevant ones."""
FLOOR: Final = 0.1
"""A passage less relevant than this is not quoted at all."""


@dataclass(slots=True)
class Sorted:
    """What each bucket holds, and how much was left out for which reason."""

    items: dict[Bucket, list[Item]] = field(default_factory=dict)
    omitted: Counter[tuple[Bucket, Omitted]] = field(default_factory=Counter)

    def shelves(self, intent: Intent) -> tuple[Shelf, ...]:
        """The buckets that hold anything in the order of *intent*."""
        order = ORDER[intent]
        return tuple(Shelf(b, tuple(self.items[b])) for b in order if self.items.get(b))

    def omissions(self, intent: Intent) -> tuple[Omission, ...]:
        """What was left out in the order of *intent*."""
        order = ORDER[intent]
        keys = sorted(self.omitted, key=lambda key: (order.index(key[0]), key[1].value))
        return tuple(Omission(*key, self.omitted[key]) for key in keys)


class Sorter:
    """Sorts for one pack with *intent*, at most *most* items a bucket."""

    def __init__(self, items: Items, intent: Intent, most: int) -> None:
        self._items = items
        self._intent = intent
        self._most = most
        self._sorted = Sorted()

    def sort(self, found: Sequence[Found], stated: Sequence[Stated]) -> Sorted:
        """Sort passages and statements."""
        near = [f for f in found if f.relation is not Relation.ELSEWHERE]
        believed = [f for f in near if f.judgement.trust is not Trust.DISCOUNTED]
        documents = [f for f in believed if f.is_document]
        talks = [f for f in believed if not f.is_document]
        self._statements(stated)
        shown = self._truth(documents, stated)
        self._examples([f for f in documents if f.row.id not in shown])
        as_reason = self._intent is Intent.REASONING_ARCHIVE
        self._passages(Bucket.PAST_REASONING, [f for f in talks if as_reason or not f.old])
        self._passages(Bucket.OLDER_MEMORY, [f for f in talks if f.old and not as_reason])
        others = [f for f in found if f.relation is Relation.ELSEWHERE]
        self._passages(Bucket.OTHER_PROJECTS, others)
        stale = [f for f in near if f.judgement.trust is Trust.DISCOUNTED]
        self._passages(Bucket.DISCOUNTED, stale)
        return self._sorted

    def _truth(self, documents: Sequence[Found], stated: Sequence[Stated]) -> set[str]:
        """Fill the bucket of what is true now; returns the ids of the rows that stand in it."""
        ranked = sorted(documents, key=_truth_order)
        relevant = [f for f in ranked if f.answers >= _least_for_truth(f)]
        self._leave(Bucket.CURRENT_TRUTH, Omitted.LOW_RELEVANCE, len(ranked) - len(relevant))
        open_tasks = [
            one
            for one in sorted(stated, key=_statement_order)
            if one.kind is StatementKind.TODO
            and one.found.is_document
            and one.own >= ENOUGH
            and one.relevance >= ENOUGH
        ]
        by_row: dict[str, Stated] = {}
        for todo in open_tasks:
            by_row.setdefault(todo.found.row.id, todo)
        # A tracker that says it in one line is quoted by that line.
        make: list[Callable[[], Item]] = []
        for one in relevant:
            task = by_row.get(one.row.id)
            if task is not None and task.own > _own(one, self._items):
                make.append(lambda task=task: self._items.of_statement(task))  # type: ignore[misc]
            else:
                make.append(lambda one=one: self._items.of_passage(one))  # type: ignore[misc]
        self._fill(Bucket.CURRENT_TRUTH, make)
        return {one.row.id for one in relevant[: self._most]}

    def _examples(self, documents: Sequence[Found]) -> None:
        ranked = sorted(
            documents, key=lambda f: (-f.relevance * _WORTH[f.judgement.trust], f.row.id)
        )
        enough = [f for f in ranked if f.relevance >= ENOUGH]
        self._leave(Bucket.EXAMPLES, Omitted.LOW_RELEVANCE, len(ranked) - len(enough))
        self._fill(
            Bucket.EXAMPLES,
            [lambda f=f: self._items.of_passage(f, matched=True) for f in enough],  # type: ignore[misc]
        )

    def _passages(self, bucket: Bucket, found: Sequence[Found]) -> None:
        ranked = sorted(
            found, key=lambda f: (f.relevance < ENOUGH, f.relation, -f.relevance, f.row.id)
        )
        relevant = self._relevant(bucket, ranked)
        self._fill(bucket, [lambda f=f: self._items.of_passage(f) for f in relevant])  # type: ignore[misc]

    def _relevant(self, bucket: Bucket, ranked: Sequence[Found]) -> list[Found]:
        kept = [f for f in ranked if f.relevance >= FLOOR]
        self._leave(bucket, Omitted.LOW_RELEVANCE, len(ranked) - len(kept))
        return kept

    def _statements(self, stated: Sequence[Stated]) -> None:
        enough = []
        for one in stated:
            if one.kind is StatementKind.TODO:
                continue
            if one.relevance >= ENOUGH and (one.own > 0 or _in_best_passage(one)):
                enough.append(one)
            elif one.own >= ENOUGH:
                self._leave(_BUCKET_OF[one.kind], Omitted.LOW_RELEVANCE, 1)
        weighed = _each_once(sorted(enough, key=_statement_order))[:WEIGHED]
        found = contests([one.claim() for one in weighed])
        beaten = {c.earlier for c in found if not c.undecided}
        for bucket in (Bucket.DECISIONS, Bucket.CONSTRAINTS, Bucket.RULES):
            holding = [
                n
                for n, one in enumerate(weighed)
                if _BUCKET_OF[one.kind] is bucket
                and n not in beaten
                and not one.placed.statement.struck
            ]
            # What stands in for a more relevant statement takes its place.
            holding.sort(key=lambda n: min([n, *_beaten_by(n, found)]))
            self._fill(
                bucket,
                [lambda n=n: self._contested(weighed, n, found) for n in holding],  # type: ignore[misc]
            )
        shown = sorted(beaten | {c.later for c in found if c.undecided})
        self._fill(
            Bucket.CONFLICTS,
            [lambda n=n: self._contested(weighed, n, found) for n in shown],  # type: ignore[misc]
        )

    def _contested(self, weighed: Sequence[Stated], n: int, found: Sequence[Contest]) -> Item:
        def place(m: int) -> str:
            return self._items.place_of(weighed[m])

        item = self._items.of_statement(weighed[n])
        later = [c.later for c in found if c.earlier == n and not c.undecided]
        newest = max(later, key=lambda m: weighed[m].claim().order, default=None)
        against = [
            c.later if c.earlier == n else c.earlier
            for c in found
            if c.undecided and n in (c.earlier, c.later)
        ]
        return replace(
            item,
            supersedes=tuple(place(m) for m in _beaten_by(n, found)[: self._most]),
            superseded_by=None if newest is None else place(newest),
            disagrees_with=place(against[0]) if against else None,
        )

    def _fill(self, bucket: Bucket, make: Sequence[Callable[[], Item]]) -> None:
        held = self._sorted.items.setdefault(bucket, [])
        room = self._most - len(held)
        held += [one() for one in make[:room]]
        self._leave(bucket, Omitted.BUCKET_FULL, max(len(make) - room, 0))

    def _leave(self, bucket: Bucket, reason: Omitted, count: int) -> None:
        if count:
            self._sorted.omitted[bucket, reason] += count


def _truth_order(found: Found) -> tuple[bool, bool, float, str]:
    trust = found.judgement.trust
    return (
        found.answers < ENOUGH,
        trust is Trust.COMMITTED_DOC,
        -round(found.answers * _WORTH[trust], 6),
        found.row.id,
    )


def _least_for_truth(found: Found) -> float:
    """A file that can be run settles nothing that it hardly speaks of."""
    return ENOUGH if found.judgement.trust is Trust.LIVE_STATE else FLOOR


def _statement_order(one: Stated) -> tuple[float, str, int]:
    worth = (one.relevance + one.own) * _WORTH[one.found.judgement.trust]
    return -round(worth, 6), one.found.row.id, one.placed.offset


def _own(found: Found, items: Items) -> float:
    return items.share(found.text)


def _in_best_passage(one: Stated) -> bool:
    passage = one.found.passage
    return passage.offset <= one.placed.offset < passage.offset + passage.length


def _beaten_by(n: int, found: Iterable[Contest]) -> list[int]:
    return [c.earlier for c in found if c.later == n and not c.undecided]


def _each_once(stated: Iterable[Stated]) -> list[Stated]:
    """*stated* without those that repeat another one of the same kind in its words."""
    kept: list[Stated] = []
    for one in stated:
        text = one.placed.statement.text
        if not any(one.kind is k.kind and same_words(text, k.placed.statement.text) for k in kept):
            kept.append(one)
    return kept
