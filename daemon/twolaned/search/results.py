"""From a ranking to what is shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from twolaned.model.result import FoundBy, ScoreParts, SearchResult, Snippet
from twolaned.model.row import Passage, PassageKind, evidence_key
from twolaned.search.folding import copy_marks, fold, reports_last
from twolaned.search.marking import Marker
from twolaned.search.ports import StoreView
from twolaned.search.ranked import Ranked
from twolaned.search.row_table import RowTable
from twolaned.search.snippet import cut_snippet, title_snippet
from twolaned.search.summary import SUMMARY_BYTES, cut_summary
from twolaned.search.tokens import estimate_from_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a row ranks, and the *passage* to show of it, by index within the row."""

    number: int
    passage: int
    score: float
    found_by: FoundBy
    duplicate_ids: tuple[str, ...] = ()
    parts: ScoreParts | None = None


def standing(ranked: Ranked, table: RowTable, *, explain: bool) -> Iterator[Standing]:
    """Yield how rows stand, best first: copies folded, generated reports behind all others."""
    pool, rows = ranked.pool, ranked.rows()
    for first, *copies in reports_last(fold(copy_marks(rows, table)), table.generated(rows)):
        place = ranked.order[first]
        yield Standing(
            number=rows[first],
            passage=int(pool.passages[place]),
            score=float(ranked.scores.total[place]),
            found_by=pool.found_by(place),
            duplicate_ids=tuple(table.id(rows[copy]) for copy in copies),
            parts=ranked.parts(place) if explain else None,
        )


def show(
    view: StoreView, standings: Iterable[Standing], marker: Marker, top_k: int
) -> tuple[SearchResult, ...]:
    """The first *top_k* results. A row that is gone by now leaves its place to the next one."""
    read = (materialise(view, one, marker) for one in standings)
    return tuple(islice((result for result in read if result is not None), top_k))


def materialise(view: StoreView, standing: Standing, marker: Marker) -> SearchResult | None:
    """Read what is shown of a row, and no more of its text. None where the row is gone."""
    row, number = view.record(standing.number), standing.number
    if row is None:
        return None
    passage = view.passage(number, standing.passage)
    start = view.body_slice(number, 0, min(row.content_bytes, SUMMARY_BYTES))
    goes_on = row.content_bytes > SUMMARY_BYTES
    return SearchResult(
        id=row.id,
        evidence_key=evidence_key(row.kind, row.id),
        kind=row.kind,
        tier=row.tier,
        source=row.source,
        title=row.title,
        project=row.project,
        path=row.path,
        quality=row.quality,
        generated=row.generated,
        score=standing.score,
        found_by=standing.found_by,
        snippet=_snippet(view, number, row.title, passage, marker),
        passage_kind=passage.kind if passage else PassageKind.PRIMARY,
        passage_offset=passage.offset if passage else 0,
        passage_length=passage.length if passage else 0,
        summary=cut_summary(row.summary, start, goes_on=goes_on),
        content_bytes=row.content_bytes,
        token_estimate=estimate_from_sample(row.content_bytes, start.encode()),
        indexed_at=row.indexed_at,
        occurred_at=row.occurred_at,
        duplicate_count=len(standing.duplicate_ids),
        duplicate_ids=standing.duplicate_ids,
        parts=standing.parts,
    )


def _snippet(
    view: StoreView, number: int, title: str, passage: Passage | None, marker: Marker
) -> Snippet:
    if passage is not None:
        text = view.body_slice(number, passage.offset, passage.length)
        if text and not text.isspace():
            return cut_snippet(text, marker, offset=passage.offset)
    return title_snippet(title, marker)
