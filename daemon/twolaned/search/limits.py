"""What a search may ask for."""

from __future__ import annotations

from twolaned.model.errors import InvalidInput
from twolaned.model.query import SearchQuery

MAX_QUERY = 8_192
"""Characters."""
MAX_TOP_K = 200


def check_limits(query: SearchQuery) -> None:
    """Raise InvalidInput that names the field by which *query* cannot be served."""
    if len(query.query) > MAX_QUERY:
        raise InvalidInput(
            "query",
            f"`query` has {len(query.query):,} characters; the limit is {MAX_QUERY:,}.",
            reason="TOO_LONG",
        )
    if not 1 <= query.top_k <= MAX_TOP_K:
        raise InvalidInput(
            "top_k",
            f"`top_k` is {query.top_k}, which is not between 1 and {MAX_TOP_K}.",
            reason="OUT_OF_RANGE",
        )
    if query.strict_project and not query.cwd:
        raise InvalidInput(
            "cwd",
            "`strict_project` needs `cwd`, which says what project it is about.",
            reason="REQUIRED",
        )
    if query.cwd and (not query.cwd.startswith("/") or "\0" in query.cwd):
        raise InvalidInput(
            "cwd", f"`cwd` is {query.cwd!r}. Give an absolute path.", reason="NOT_ABSOLUTE"
        )
    filters = query.filters
    if filters.since is not None and filters.before is not None and filters.since >= filters.before:
        raise InvalidInput(
            "filters.before",
            "`filters.before` is not later than `filters.since`, so that no time is left between"
            " them.",
            reason="OUT_OF_RANGE",
        )
