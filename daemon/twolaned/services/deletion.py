"""Which rows a request to delete means."""

from __future__ import annotations

from twolane.v1 import archive_service_pb2 as archive
from twolaned.model.errors import InvalidInput
from twolaned.model.query import Filters
from twolaned.search.selection import named, selected
from twolaned.search.snapshot import IndexSnapshot
from twolaned.services import checks
from twolaned.services.convert_query import filters_from_proto

MAX_IDS = 10_000
"""Ids of one request."""
MAX_ID = 4_096
"""Characters of one id."""
MAX_NAMED = 1_000
"""Ids of one answer."""


def doomed(snapshot: IndexSnapshot, request: archive.DeleteRequest) -> list[str]:
    """The ids of the rows that *request* means.

    Raises InvalidInput where it limits nothing, NotFound for an id that is not there.
    """
    checks.at_most_items("ids", request.ids, MAX_IDS)
    for number, name in enumerate(request.ids):
        checks.required(f"ids[{number}]", name)
        checks.at_most_characters(f"ids[{number}]", name, MAX_ID)
    filters = filters_from_proto(request.filters)
    if not request.ids and filters == Filters():
        raise InvalidInput(
            "ids",
            "Say what to delete: `ids`, or `filters` of which at least one limits.",
            reason="REQUIRED",
        )
    ids = named(snapshot, request.ids)
    if filters == Filters():
        return ids
    met = selected(snapshot, filters)
    if not request.ids:
        return met
    wanted = set(ids)
    return [row_id for row_id in met if row_id in wanted]
