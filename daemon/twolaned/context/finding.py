"""The searches that a pack is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from twolaned.context.echo import MARKER
from twolaned.context.pack import Intent, PackRequest
from twolaned.context.relevance import as_query
from twolaned.model.query import Detail, Filters, Scope, SearchQuery
from twolaned.model.result import Receipt, SearchAnswer, SearchResult
from twolaned.search.engine import SearchEngine
from twolaned.search.question import MeaningQuestion
from twolaned.search.snapshot import IndexSnapshot

DOCUMENTS: Final = 24
CONVERSATIONS: Final = 16
OTHERS: Final = 10
"""Rows that are asked for, of other projects in the last case."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The rows that all searches found, each once, and the receipt of the first of them."""

    results: tuple[SearchResult, ...]
    receipt: Receipt


def query_of(request: PackRequest) -> SearchQuery:
    """The search whose words, and whose meaning, are the task's."""
    return SearchQuery(query=as_query(request.task), top_k=DOCUMENTS)


class Finder:
    """Runs a pack's searches on one snapshot, all as of the same moment."""

    def __init__(
        self,
        engine: SearchEngine,
        snapshot: IndexSnapshot,
        request: PackRequest,
        intent: Intent,
        now: int,
        meaning: MeaningQuestion | None,
    ) -> None:
        self._engine = engine
        self._snapshot = snapshot
        self._request = request
        self._now = now
        self._meaning = meaning
        detail = Detail.NORMAL if intent is Intent.CURRENT_TRUTH else Detail.FULL
        documents = replace(
            query_of(request),
            filters=Filters(scope=Scope.DOCUMENTS, since=request.since, before=request.as_of),
            explain=True,
        )
        conversations = replace(
            documents,
            top_k=CONVERSATIONS,
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
                any_talk = replace(conversations, top_k=OTHERS)
                self._queries += [any_talk, replace(documents, top_k=OTHERS)]
                self._conversations.append(any_talk)

    def find(self) -> Hits:
        """Documents of the project and its conversations, then those of everywhere."""
        answers = [self._search(query) for query in self._queries]
        return Hits(_each_once(answers), answers[0].receipt)

    def find_beyond_echoes(self) -> tuple[SearchResult, ...]:
        """Conversations in which no earlier pack was pasted."""
        without = (
            self._search(replace(query, query=f'{query.query} -"{MARKER}"'))
            for query in self._conversations
        )
        return _each_once(without)

    def _search(self, query: SearchQuery) -> SearchAnswer:
        return self._engine.search(self._snapshot, query, meaning=self._meaning, now=self._now)


def _each_once(answers: Iterable[SearchAnswer]) -> tuple[SearchResult, ...]:
    found: dict[str, SearchResult] = {}
    for answer in answers:
        for result in answer.results:
            found.setdefault(result.id, result)
    return tuple(found.values())
