"""What a search found, both ways."""

from __future__ import annotations

from twolane.v1 import search_service_pb2 as search
from twolaned.model.result import (
    ScoreParts,
    SearchAnswer,
    SearchResult,
    Snippet,
    Span,
)
from twolaned.services.convert_enums import (
    FOUND_BY,
    PASSAGE_KIND,
    QUALITY,
    ROW_KIND,
    SEARCH_MODE,
    TIER,
)
from twolaned.services.convert_receipt import receipt_from_proto, receipt_to_proto
from twolaned.services.convert_time import milliseconds, timestamp


def answer_to_proto(answer: SearchAnswer) -> search.SearchResponse:
    """The message that holds *answer*."""
    receipt = answer.receipt
    return search.SearchResponse(
        final=answer.final,
        mode=SEARCH_MODE.to_proto(receipt.mode),
        degraded=receipt.degraded,
        degraded_reason=receipt.degraded_reason,
        results=[result_to_proto(result) for result in answer.results],
        receipt=receipt_to_proto(receipt),
        read_as_text=answer.ignored,
    )


def answer_from_proto(response: search.SearchResponse) -> SearchAnswer:
    """The answer that *response* holds."""
    return SearchAnswer(
        results=tuple(result_from_proto(result) for result in response.results),
        receipt=receipt_from_proto(response.receipt),
        final=response.final,
        ignored=tuple(response.read_as_text),
    )


def result_to_proto(result: SearchResult) -> search.SearchResult:
    """The message that holds *result*."""
    return search.SearchResult(
        id=result.id,
        evidence_key=result.evidence_key,
        kind=ROW_KIND.to_proto(result.kind),
        tier=TIER.to_proto(result.tier),
        source=result.source,
        title=result.title,
        project=result.project or "",
        path=result.path or "",
        quality=QUALITY.to_proto(result.quality),
        generated=result.generated,
        score=result.score,
        found_by=FOUND_BY.to_proto(result.found_by),
        snippet=snippet_to_proto(result.snippet),
        passage_kind=PASSAGE_KIND.to_proto(result.passage_kind),
        summary=result.summary,
        content_bytes=result.content_bytes,
        token_estimate=result.token_estimate,
        expand=search.Expand(
            id=result.id, offset=result.passage_offset, length=result.passage_length
        ),
        indexed_at=timestamp(result.indexed_at),
        occurred_at=timestamp(result.occurred_at),
        duplicate_count=result.duplicate_count,
        duplicate_ids=result.duplicate_ids,
        score_parts=None if result.parts is None else parts_to_proto(result.parts),
    )


def result_from_proto(result: search.SearchResult) -> SearchResult:
    """The result that the message holds."""
    occurred = result.occurred_at if result.HasField("occurred_at") else None
    return SearchResult(
        id=result.id,
        evidence_key=result.evidence_key,
        kind=ROW_KIND.known(result.kind, "kind"),
        tier=TIER.known(result.tier, "tier"),
        source=result.source,
        title=result.title,
        project=result.project or None,
        path=result.path or None,
        quality=QUALITY.known(result.quality, "quality"),
        generated=result.generated,
        score=result.score,
        found_by=FOUND_BY.known(result.found_by, "found_by"),
        snippet=snippet_from_proto(result.snippet),
        passage_kind=PASSAGE_KIND.known(result.passage_kind, "passage_kind"),
        passage_offset=result.expand.offset,
        passage_length=result.expand.length,
        summary=result.summary,
        content_bytes=result.content_bytes,
        token_estimate=result.token_estimate,
        indexed_at=milliseconds("indexed_at", result.indexed_at),
        occurred_at=None if occurred is None else milliseconds("occurred_at", occurred),
        duplicate_count=result.duplicate_count,
        duplicate_ids=tuple(result.duplicate_ids),
        parts=parts_from_proto(result.score_parts) if result.HasField("score_parts") else None,
    )


def snippet_to_proto(snippet: Snippet) -> search.Snippet:
    """The message that holds *snippet*."""
    return search.Snippet(
        text=snippet.text,
        matches=[search.Span(start=span.start, end=span.end) for span in snippet.matches],
        offset=snippet.offset,
        length=snippet.length,
    )


def snippet_from_proto(snippet: search.Snippet) -> Snippet:
    """The snippet that the message holds."""
    return Snippet(
        text=snippet.text,
        matches=tuple(Span(span.start, span.end) for span in snippet.matches),
        offset=snippet.offset,
        length=snippet.length,
    )


def parts_to_proto(parts: ScoreParts) -> search.ScoreParts:
    """The message that holds *parts*."""
    return search.ScoreParts(
        similarity=parts.similarity,
        recency=parts.recency,
        quality=parts.quality,
        tier=parts.tier,
        outcome=parts.outcome,
        found_both_ways=parts.found_both_ways,
        freshness=parts.freshness,
        bm25=parts.bm25,
        cosine=parts.cosine,
    )


def parts_from_proto(parts: search.ScoreParts) -> ScoreParts:
    """The parts of a score that the message holds."""
    return ScoreParts(
        similarity=parts.similarity,
        recency=parts.recency,
        quality=parts.quality,
        tier=parts.tier,
        outcome=parts.outcome,
        found_both_ways=parts.found_both_ways,
        freshness=parts.freshness,
        bm25=parts.bm25 if parts.HasField("bm25") else None,
        cosine=parts.cosine if parts.HasField("cosine") else None,
    )
