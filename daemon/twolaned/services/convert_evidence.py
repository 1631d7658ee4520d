"""Rows that are opened, both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twolane.v1 import search_service_pb2 as search
from twolaned.model.conversation import MessageKind, Role
from twolaned.model.row import MessageSpan
from twolaned.search.evidence import MAX_PAGE, EvidenceForm, OpenedEvidence
from twolaned.services import checks
from twolaned.services.convert_enums import EVIDENCE_FORM, QUALITY, ROW_KIND, TIER
from twolaned.services.convert_time import milliseconds, timestamp

MAX_ID = 8_192
"""Bytes of a row's id: a document's holds its path."""

_PLAIN = (
    "id",
    "evidence_key",
    "source",
    "title",
    "summary",
    "content",
    "offset",
    "next_offset",
    "content_bytes",
    "omitted_bytes",
    "message_count",
)
"""The fields that mean the same on both sides."""
_OPTIONAL = ("project", "cwd", "path", "parent_id", "forked_from_id", "git_branch")
"""The fields that are None here where they are empty there."""
_LISTS = ("decisions", "key_outputs", "topics")


@dataclass(frozen=True, slots=True)
class Opening:
    """Which row to open, and how much of it."""

    id: str
    form: EvidenceForm = EvidenceForm.FULL
    offset: int = 0
    max_bytes: int = 0


def opening_from_proto(request: search.OpenEvidenceRequest) -> Opening:
    """What *request* wants opened. Raises InvalidInput that names the field."""
    checks.required("id", request.id)
    checks.at_most_bytes("id", request.id, MAX_ID)
    checks.not_negative("offset", request.offset)
    checks.between("max_bytes", request.max_bytes, 0, MAX_PAGE)
    form = EVIDENCE_FORM.from_proto(request.form, "form", unspecified=EvidenceForm.FULL)
    return Opening(request.id, form, request.offset, request.max_bytes)


def opening_to_proto(opening: Opening) -> search.OpenEvidenceRequest:
    """The request for *opening*."""
    return search.OpenEvidenceRequest(
        id=opening.id,
        form=EVIDENCE_FORM.to_proto(opening.form),
        offset=opening.offset,
        max_bytes=opening.max_bytes,
    )


def evidence_to_proto(opened: OpenedEvidence) -> search.OpenEvidenceResponse:
    """The message that holds *opened*."""
    same: dict[str, Any] = {name: getattr(opened, name) for name in _PLAIN + _LISTS}
    same |= {name: getattr(opened, name) or "" for name in _OPTIONAL}
    return search.OpenEvidenceResponse(
        kind=ROW_KIND.to_proto(opened.kind),
        tier=TIER.to_proto(opened.tier),
        quality=QUALITY.to_proto(opened.quality),
        messages=[message_to_proto(message) for message in opened.messages],
        indexed_at=timestamp(opened.indexed_at),
        occurred_at=timestamp(opened.occurred_at),
        created_at=timestamp(opened.created_at),
        **same,
    )


def evidence_from_proto(response: search.OpenEvidenceResponse) -> OpenedEvidence:
    """The opened row that the message holds."""
    occurred = response.occurred_at if response.HasField("occurred_at") else None
    created = response.created_at if response.HasField("created_at") else None
    same: dict[str, Any] = {name: getattr(response, name) for name in _PLAIN}
    same |= {name: getattr(response, name) or None for name in _OPTIONAL}
    same |= {name: tuple(getattr(response, name)) for name in _LISTS}
    return OpenedEvidence(
        kind=ROW_KIND.known(response.kind, "kind"),
        tier=TIER.known(response.tier, "tier"),
        quality=QUALITY.known(response.quality, "quality"),
        messages=tuple(message_from_proto(message) for message in response.messages),
        indexed_at=milliseconds("indexed_at", response.indexed_at),
        occurred_at=None if occurred is None else milliseconds("occurred_at", occurred),
        created_at=None if created is None else milliseconds("created_at", created),
        **same,
    )


def message_to_proto(message: MessageSpan) -> search.EvidenceMessage:
    """The message that holds *message*."""
    return search.EvidenceMessage(
        offset=message.offset,
        length=message.length,
        role=message.role,
        kind=message.kind,
        native_id=message.native_id or "",
        at=timestamp(message.at),
        on_main_line=message.on_main_line,
        speaker=message.speaker or "",
    )


def message_from_proto(message: search.EvidenceMessage) -> MessageSpan:
    """Where one message of a conversation stands, as the message says."""
    return MessageSpan(
        offset=message.offset,
        length=message.length,
        role=Role(message.role),
        kind=MessageKind(message.kind),
        native_id=message.native_id or None,
        at=milliseconds("at", message.at) if message.HasField("at") else None,
        on_main_line=message.on_main_line,
        speaker=message.speaker or None,
    )
