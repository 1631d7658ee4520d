"""The index at one generation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.meaning import MeaningIndex
from twolaned.model.source import Source
from twolaned.search.row_table import RowTable
from twolaned.store import View


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSnapshot:
    """What one search sees. Immutable, and safe to use from any thread.

    *view* opens the store as it is now, which may be a little ahead: a row of the snapshot can be
    gone from it.
    """

    generation: int
    keyword: KeywordIndex
    rows: RowTable
    view: Callable[[], AbstractContextManager[View]]
    sources: tuple[Source, ...] = ()
    meaning: MeaningIndex = field(default_factory=MeaningIndex.empty)
