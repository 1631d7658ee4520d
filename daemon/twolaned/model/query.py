"""What is asked of the index."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from twolaned.model.row import Quality


class Scope(StrEnum):
    """Which rows a search covers before any other filter."""

    ALL = "all"
    CONVERSATIONS = "conversations"
    DOCUMENTS = "documents"
    PROJECTS = "projects"
    CLIENTS = "clients"


class Detail(StrEnum):
    """How far a search reaches; FULL with scope conversations also searches the archive."""

    NORMAL = "normal"
    FULL = "full"


class Similarity(StrEnum):
    """How the two lanes' evidence becomes one similarity (retrieval rules, section 3)."""

    MAX = "max"
    BLEND = "blend"


class RankingDate(StrEnum):
    """Which date the two time terms count from."""

    INDEXED = "indexed"
    OCCURRED = "occurred"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Narrow the rows in reach before the lanes pick their best. Empty means no limit.

    *since* is inclusive and *before* exclusive, both UTC milliseconds, and judge a row's
    ``occurred_at`` (its ``indexed_at`` where the source gives no time).
    """

    scope: Scope = Scope.ALL
    sources: tuple[str, ...] = ()
    domain: str | None = None
    intent: str | None = None
    qualities: tuple[Quality, ...] = ()
    topic: str | None = None
    decision: str | None = None
    client: str | None = None
    since: int | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """One search. *query* is at most 8,192 characters and *top_k* 1 to 200."""

    query: str
    top_k: int = 10
    filters: Filters = field(default_factory=Filters)
    cwd: str | None = None
    strict_project: bool = False
    detail: Detail = Detail.NORMAL
    explain: bool = False
    similarity: Similarity | None = None
    """None takes the configured one."""
