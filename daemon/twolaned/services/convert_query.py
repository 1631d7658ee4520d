"""What is asked: search requests and queries, both ways."""

from __future__ import annotations

from twolane.v1 import search_service_pb2 as search
from twolaned.model.errors import InvalidInput
from twolaned.model.query import Detail, Filters, Scope, SearchQuery
from twolaned.services import checks
from twolaned.services.convert_enums import DETAIL, QUALITY, SCOPE, SIMILARITY
from twolaned.services.convert_time import milliseconds, timestamp

MAX_QUERY = 8_192
"""Characters of a query."""
MAX_TOP_K = 200
DEFAULT_TOP_K = 10
MAX_FILTER_VALUES = 100
"""Values of one condition."""
MAX_FILTER_TEXT = 1_024
"""Characters of one condition's text."""


def query_from_proto(request: search.SearchRequest) -> SearchQuery:
    """What *request* asks. Raises InvalidInput that names the field."""
    checks.at_most_characters("query", request.query, MAX_QUERY)
    checks.between("top_k", request.top_k, 0, MAX_TOP_K)
    if request.cwd:
        checks.absolute_path("cwd", request.cwd)
    elif request.strict_project:
        raise InvalidInput(
            "cwd",
            "`strict_project` needs `cwd`, which says what project it is about.",
            reason="REQUIRED",
        )
    return SearchQuery(
        query=request.query,
        top_k=request.top_k or DEFAULT_TOP_K,
        filters=filters_from_proto(request.filters),
        cwd=request.cwd or None,
        strict_project=request.strict_project,
        detail=DETAIL.from_proto(request.detail, "detail", unspecified=Detail.NORMAL),
        explain=request.explain,
        similarity=SIMILARITY.optional(request.similarity, "similarity"),
    )


def query_to_proto(query: SearchQuery) -> search.SearchRequest:
    """The request that asks *query*."""
    return search.SearchRequest(
        query=query.query,
        top_k=query.top_k,
        explain=query.explain,
        filters=filters_to_proto(query.filters),
        cwd=query.cwd or "",
        strict_project=query.strict_project,
        detail=DETAIL.to_proto(query.detail),
        similarity=(
            search.SIMILARITY_UNSPECIFIED
            if query.similarity is None
            else SIMILARITY.to_proto(query.similarity)
        ),
    )


def filters_from_proto(filters: search.Filters) -> Filters:
    """The conditions of *filters*. Raises InvalidInput that names the field."""
    checks.at_most_items("filters.sources", filters.sources, MAX_FILTER_VALUES)
    checks.at_most_items("filters.qualities", filters.qualities, MAX_FILTER_VALUES)
    for number, source in enumerate(filters.sources):
        checks.at_most_characters(f"filters.sources[{number}]", source, MAX_FILTER_TEXT)
    for field in ("domain", "intent", "topic", "decision", "client"):
        checks.at_most_characters(f"filters.{field}", getattr(filters, field), MAX_FILTER_TEXT)
    qualities = [
        QUALITY.optional(number, f"filters.qualities[{place}]")
        for place, number in enumerate(filters.qualities)
    ]
    return Filters(
        scope=SCOPE.from_proto(filters.scope, "filters.scope", unspecified=Scope.ALL),
        sources=tuple(filters.sources),
        domain=filters.domain or None,
        intent=filters.intent or None,
        # One that is not specified stands for any.
        qualities=() if None in qualities else tuple(q for q in qualities if q is not None),
        topic=filters.topic or None,
        decision=filters.decision or None,
        client=filters.client or None,
        since=_time(filters, "since"),
        before=_time(filters, "before"),
    )


def filters_to_proto(filters: Filters) -> search.Filters:
    """The message that holds *filters*."""
    return search.Filters(
        scope=SCOPE.to_proto(filters.scope),
        sources=filters.sources,
        domain=filters.domain or "",
        intent=filters.intent or "",
        qualities=[QUALITY.to_proto(q) for q in filters.qualities],
        topic=filters.topic or "",
        decision=filters.decision or "",
        client=filters.client or "",
        since=timestamp(filters.since),
        before=timestamp(filters.before),
    )


def _time(filters: search.Filters, field: str) -> int | None:
    if not filters.HasField(field):  # type: ignore[arg-type]
        return None
    return milliseconds(f"filters.{field}", getattr(filters, field))
