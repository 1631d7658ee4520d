"""The conditions that narrow which rows a lane may find, in the form that the row table judges."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from twolaned.model.query import Scope, SearchQuery
from twolaned.model.row import Quality, RowKind, Tier
from twolaned.model.source import Source, SourceScope
from twolaned.search.projects import Project, is_at_or_below, project_of, widened
from twolaned.search.query import ParsedQuery

_KINDS = {
    Scope.CONVERSATIONS: frozenset({RowKind.CONVERSATION, RowKind.DIGEST}),
    Scope.DOCUMENTS: frozenset({RowKind.DOCUMENT}),
    Scope.PROJECTS: frozenset({RowKind.DOCUMENT}),
    Scope.CLIENTS: frozenset({RowKind.DOCUMENT}),
}
_SOURCE_SCOPES = {Scope.PROJECTS: SourceScope.PROJECT, Scope.CLIENTS: SourceScope.CLIENT}


def folded(value: str) -> str:
    """*value* as conditions compare it: case, width and the white space around it do not count."""
    return unicodedata.normalize("NFKC", value).casefold().strip()


@dataclass(frozen=True, slots=True)
class SourceNames:
    """Alternatives of a ``source`` condition: names, and the folders of sources so named."""

    names: frozenset[str]
    roots: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """All conditions of one search. Texts are `folded`; empty fields do not limit.

    Hashable, so that the row table can keep what it found for the next search.
    """

    tiers: frozenset[Tier] = frozenset(Tier)
    kinds: frozenset[RowKind] = frozenset(RowKind)
    roots: frozenset[str] | None = None
    """The folders whose documents the scope covers; None covers all."""
    sources: tuple[SourceNames, ...] = ()
    """Each must be met."""
    paths: tuple[str, ...] = ()
    """Alternatives: text that a document's path contains, or a pattern with wildcards."""
    qualities: frozenset[Quality] = frozenset()
    domain: str | None = None
    intent: str | None = None
    topic: str | None = None
    decision: str | None = None
    client: str | None = None
    client_roots: frozenset[str] = frozenset()
    """The folders of sources that are this client's."""
    since: int | None = None
    before: int | None = None
    project: Project | None = None
    strict_project: bool = False
    """Whether conversations must belong to *project* too."""


ALL_ROWS = RowFilter()


class Conditions:
    """The conditions of one search: those of the request and those of its query together."""

    def __init__(
        self, query: SearchQuery, parsed: ParsedQuery, sources: tuple[Source, ...]
    ) -> None:
        filters = query.filters
        scope = _SOURCE_SCOPES.get(filters.scope)
        client = _folded(filters.client)
        names = (filters.sources, parsed.sources)
        self._base = RowFilter(
            kinds=_KINDS.get(filters.scope, frozenset(RowKind)),
            roots=None if scope is None else frozenset(s.path for s in sources if s.scope is scope),
            sources=tuple(_source_names(n, sources) for n in names if n),
            paths=parsed.paths,
            qualities=frozenset(filters.qualities),
            domain=_folded(filters.domain),
            intent=_folded(filters.intent),
            topic=_folded(filters.topic),
            decision=_folded(filters.decision),
            client=client,
            client_roots=frozenset(s.path for s in sources if _folded(s.client_name) == client)
            if client
            else frozenset(),
            since=_latest(filters.since, parsed.after),
            before=_earliest(filters.before, parsed.before),
            project=widened(project_of(query.cwd), sources) if query.cwd else None,
            strict_project=query.strict_project,
        )

    def of(self, tiers: frozenset[Tier]) -> RowFilter:
        """The conditions on rows of *tiers*."""
        if tiers == self._base.tiers:
            return self._base
        return replace(self._base, tiers=tiers)


def sources_in_reach(filter: RowFilter, sources: Iterable[Source]) -> list[Source]:  # noqa: A002
    """The followed folders whose documents *filter* lets through, scanned yet or not."""
    only_conversations = (
        filter.qualities, filter.domain, filter.intent, filter.topic, filter.decision
    )  # fmt: skip
    if RowKind.DOCUMENT not in filter.kinds or any(only_conversations):
        return []
    return [source for source in sources if _reaches(filter, source)]


def _reaches(filter: RowFilter, source: Source) -> bool:  # noqa: A002
    if filter.roots is not None and source.path not in filter.roots:
        return False
    if filter.client is not None and source.path not in filter.client_roots:
        return False
    if not all("documents" in s.names or source.path in s.roots for s in filter.sources):
        return False
    project = filter.project
    return project is None or any(
        is_at_or_below(source.path, root) or is_at_or_below(root, source.path)
        for root in project.roots
    )


def _source_names(names: Iterable[str], sources: tuple[Source, ...]) -> SourceNames:
    wanted = frozenset(folded(name) for name in names)
    roots = (s.path for s in sources if folded(s.id) in wanted or folded(s.path) in wanted)
    return SourceNames(wanted, frozenset(roots))


def _folded(value: str | None) -> str | None:
    return folded(value) or None if value else None


def _latest(*moments: int | None) -> int | None:
    return max((m for m in moments if m is not None), default=None)


def _earliest(*moments: int | None) -> int | None:
    return min((m for m in moments if m is not None), default=None)
