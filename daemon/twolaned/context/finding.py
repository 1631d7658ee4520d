"""The searches that a pack is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from twolaned.context.echo import PHRASES
from twolaned.context.pack import Intent, PackRequest
from twolaned.context.relevance import as_query
from twolaned.model.query import Detail, Filters, Scope, SearchQuery
from twolaned.model.result import Receipt
from twolaned.search.engine import SearchEngine
from twolaned.search.ports import StoreView
from twolaned.search.question import MeaningQuestion
from twolaned.search.results import Standing
from twolaned.search.snapshot import IndexSnapshot

DOCUMENTS: Final = 4
CONVERSATIONS: Final = 3
OTHERS: Final = 2
"""Rows that are asked for, for each item that a bucket may hold."""


LATEST: Final = 4_102_444_800_000
"""UTC milliseconds: 2100. No age needs a later moment, and not every calendar has one."""


@dataclass(frozen=True, slots=True)
class Hits:
    """How the rows stand that all searches found, each once, and the receipt of the first."""

    standings: tuple[Standing, ...]
    receipt: Receipt


def query_of(request: PackRequest) -> SearchQuery:
    """The search whose words, and whose meaning, are the task's."""
    return SearchQuery(query=as_query(request.task), top_k=DOCUMENTS * request.max_per_bucket)


class Finder:
    """Runs a pack's searches on one snapshot, all as of the same moment.

    *view* is one of *snapshot*, *now* UTC milliseconds.
    """

    def __init__(
        self,
        engine: SearchEngine,
        snapshot: IndexSnapshot,
        view: StoreView,
        request: PackRequest,
        intent: Intent,
        now: int,
        meaning: MeaningQuestion | None,
    ) -> None:
        self._engine = engine
        self._snapshot = snapshot
        self._view = view
        self._now = min(max(now, 0), LATEST)
        self._meaning = meaning
        detail = Detail.NORMAL if intent is Intent.CURRENT_TRUTH else Detail.FULL
        documents = replace(
            query_of(request),
            filters=Filters(scope=Scope.DOCUMENTS, since=request.since, before=request.as_of),
            explain=True,
        )
        conversations = replace(
            documents,
            top_k=CONVERSATIONS * request.max_per_bucket,
            detail=detail,
            filters=replace(documents.filters, scope=Scope.CONVERSATIONS),
        )
        self._conversations = [conversations]
        self._queries = [documents, conversations]
        if request.cwd:
            strict = request.strict_project
            mine = replace(conversations, cwd=request.cwd, strict_project=True)
            self._queries = [replace(documents, cwd=request.cwd, strict_project=strict), mine]
            self._conversations = [mine]
            if not request.strict_project:
                few = OTHERS * request.max_per_bucket
                any_talk = replace(conversations, top_k=few)
                self._queries += [any_talk, replace(documents, top_k=few)]
                self._conversations.append(any_talk)

    def find(self) -> Hits:
        """Documents of the project and its conversations, then those of everywhere."""
        found = [self._search(query) for query in self._queries]
        return Hits(_each_once(standings for standings, _ in found), found[0][1])

    def find_beyond_echoes(self) -> tuple[Standing, ...]:
        """Conversations in which no earlier pack was pasted."""
        excluded = " ".join(f'-"{phrase}"' for phrase in PHRASES)
        without = (
            self._search(replace(query, query=f"{query.query} {excluded}"))[0]
            for query in self._conversations
        )
        return _each_once(without)

    def _search(self, query: SearchQuery) -> tuple[tuple[Standing, ...], Receipt]:
        return self._engine.standings(
            self._snapshot, self._view, query, meaning=self._meaning, now=self._now
        )


def _each_once(answers: Iterable[Iterable[Standing]]) -> tuple[Standing, ...]:
    found: dict[int, Standing] = {}
    for standings in answers:
        for standing in standings:
            found.setdefault(standing.number, standing)
    return tuple(found.values())
