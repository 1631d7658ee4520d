"""What is to be kept, both ways, and what became of it."""

from __future__ import annotations

from twolane.v1 import archive_service_pb2 as archive
from twolaned.model.errors import InvalidInput
from twolaned.model.row import Quality, RowKind
from twolaned.services import checks
from twolaned.services.convert_enums import QUALITY, outcome_from_proto, outcome_to_proto
from twolaned.services.convert_time import milliseconds, timestamp
from twolaned.writer.protocol import Save, Saved

MAX_SOURCE = 64
"""Characters."""
MAX_SUMMARY = 20_000
"""Characters."""
MAX_CONTENT = 8_388_608
"""Bytes of UTF-8."""
MAX_ITEMS = 100
"""Of decisions, key outputs and topics each."""
MAX_ITEM = 10_000
"""Characters of one of these."""
MAX_LABEL = 1_024
"""Characters of title, domain, intent, client and cwd, which travel with every passage or row."""
MAX_KEY = 200
"""Characters of an idempotency key."""

_KEYS = ("idempotency_key", "replace_idempotency_key")
_LABELS = ("title", "domain", "intent", "client", "cwd")
_LISTS = ("decisions", "key_outputs", "topics")


def save_from_proto(request: archive.SaveRequest) -> Save:
    """What *request* wants kept. Raises InvalidInput that names the field."""
    _check(request)
    occurred = request.occurred_at if request.HasField("occurred_at") else None
    return Save(
        source=request.source,
        summary=request.summary,
        content=request.content,
        title=request.title,
        decisions=tuple(request.decisions),
        key_outputs=tuple(request.key_outputs),
        topics=tuple(request.topics),
        domain=request.domain or None,
        intent=request.intent or None,
        client=request.client or None,
        cwd=request.cwd or None,
        occurred_at=None if occurred is None else milliseconds("occurred_at", occurred),
        idempotency_key=request.idempotency_key or None,
        replace_idempotency_key=request.replace_idempotency_key or None,
        quality=QUALITY.from_proto(request.quality, "quality", unspecified=Quality.UNRATED),
    )


def save_to_proto(save: Save) -> archive.SaveRequest:
    """The request that wants *save* kept."""
    return archive.SaveRequest(
        source=save.source,
        summary=save.summary,
        content=save.content,
        title=save.title,
        decisions=save.decisions,
        key_outputs=save.key_outputs,
        topics=save.topics,
        domain=save.domain or "",
        intent=save.intent or "",
        client=save.client or "",
        cwd=save.cwd or "",
        occurred_at=timestamp(save.occurred_at),
        idempotency_key=save.idempotency_key or "",
        replace_idempotency_key=save.replace_idempotency_key or "",
        quality=QUALITY.to_proto(save.quality),
    )


def saved_to_proto(saved: Saved, generation: int) -> archive.SaveResponse:
    """The answer to a save that is part of *generation*."""
    return archive.SaveResponse(
        id=saved.id,
        evidence_key=f"{RowKind.CONVERSATION}:{saved.id}",
        outcome=outcome_to_proto(saved.outcome),
        quality=QUALITY.to_proto(saved.quality),
        warnings=saved.warnings,
        index_generation=generation,
    )


def saved_from_proto(response: archive.SaveResponse) -> Saved:
    """What became of a save, as the message says."""
    return Saved(
        id=response.id,
        outcome=outcome_from_proto(response.outcome),
        quality=QUALITY.known(response.quality, "quality"),
        warnings=tuple(response.warnings),
    )


def _check(request: archive.SaveRequest) -> None:
    checks.required("source", request.source)
    checks.at_most_characters("source", request.source, MAX_SOURCE)
    if any(c.isspace() or not c.isprintable() for c in request.source):
        raise InvalidInput(
            "source",
            f"`source` is {request.source!r}. Give a name without spaces, such as `claude-code`.",
            reason="MALFORMED",
            source=request.source,
        )
    checks.required("summary", request.summary)
    checks.at_most_characters("summary", request.summary, MAX_SUMMARY)
    checks.at_most_bytes("content", request.content, MAX_CONTENT)
    for field in _LABELS:
        checks.at_most_characters(field, getattr(request, field), MAX_LABEL)
    for field in _KEYS:
        checks.at_most_characters(field, getattr(request, field), MAX_KEY)
    for field in _LISTS:
        values = getattr(request, field)
        checks.at_most_items(field, values, MAX_ITEMS)
        for number, value in enumerate(values):
            checks.at_most_characters(f"{field}[{number}]", value, MAX_ITEM)
    if request.cwd:
        checks.absolute_path("cwd", request.cwd)
