"""`twolane.v1.FeedbackService`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from grpc import aio

from twolane.v1 import feedback_service_pb2 as feedback_pb
from twolane.v1 import feedback_service_pb2_grpc as feedback_grpc
from twolaned.model.errors import InvalidInput
from twolaned.model.feedback import Feedback, FeedbackKind, Outcome
from twolaned.services import checks
from twolaned.services.convert_enums import Enum
from twolaned.services.convert_time import timestamp
from twolaned.services.ports import Writer
from twolaned.services.searches import Searches
from twolaned.store import Store
from twolaned.writer.protocol import FeedbackChanged, ForgetFeedback, LogFeedback

Context = aio.ServicerContext[Any, Any]

MAX_SESSION = 200
MAX_TASK = 1_024
MAX_NOTE = 2_000
MAX_KEY = 4_096
"""Characters."""
MAX_USED = 200
MAX_FORGOTTEN = 1_000
MAX_ENTRIES = 500
DEFAULT_ENTRIES = 50

OUTCOME = Enum[Outcome, feedback_pb.Outcome.ValueType](
    Outcome, feedback_pb.Outcome.DESCRIPTOR, "OUTCOME_"
)
KIND = Enum[FeedbackKind, feedback_pb.FeedbackKind.ValueType](
    FeedbackKind, feedback_pb.FeedbackKind.DESCRIPTOR, "FEEDBACK_KIND_"
)


class FeedbackService(feedback_grpc.FeedbackServiceServicer):
    """Keeps the log of evidence."""

    def __init__(self, writer: Writer, searches: Searches, store: Store) -> None:
        self._writer = writer
        self._searches = searches
        self._store = store

    async def LogOutcome(  # noqa: N802
        self, request: feedback_pb.LogOutcomeRequest, _: Context
    ) -> feedback_pb.LogOutcomeResponse:
        """Record what a task used and how it went."""
        done = await self._writer.call(LogFeedback(entries_of(request)))
        assert isinstance(done.result, FeedbackChanged)
        return feedback_pb.LogOutcomeResponse(entries=done.result.entries)

    async def WhyEvidence(  # noqa: N802
        self, request: feedback_pb.WhyEvidenceRequest, _: Context
    ) -> feedback_pb.WhyEvidenceResponse:
        """Tell what the log holds."""
        _one_of("evidence_key", request.evidence_key, request.session_id)
        checks.at_most_characters("evidence_key", request.evidence_key, MAX_KEY)
        checks.at_most_characters("session_id", request.session_id, MAX_SESSION)
        checks.between("limit", request.limit, 0, MAX_ENTRIES)
        found = await self._searches.run(self._found, request)
        return feedback_pb.WhyEvidenceResponse(entries=[entry_to_proto(entry) for entry in found])

    async def ForgetEvidence(  # noqa: N802
        self, request: feedback_pb.ForgetEvidenceRequest, _: Context
    ) -> feedback_pb.ForgetEvidenceResponse:
        """Remove entries from the log."""
        _one_of("evidence_keys", request.evidence_keys, request.session_ids)
        checks.at_most_items("evidence_keys", request.evidence_keys, MAX_FORGOTTEN)
        checks.at_most_items("session_ids", request.session_ids, MAX_FORGOTTEN)
        command = ForgetFeedback(tuple(request.session_ids), tuple(request.evidence_keys))
        done = await self._writer.call(command)
        assert isinstance(done.result, FeedbackChanged)
        return feedback_pb.ForgetEvidenceResponse(entries=done.result.entries)

    def _found(self, request: feedback_pb.WhyEvidenceRequest) -> list[Feedback]:
        key, session = request.evidence_key, request.session_id
        with self._store.view() as view:
            met = (
                entry
                for _, entry in view.feedback()
                if key in ("", entry.evidence_key) and session in ("", entry.session)
            )
            return list(islice(met, request.limit or DEFAULT_ENTRIES))


def entries_of(request: feedback_pb.LogOutcomeRequest) -> tuple[Feedback, ...]:
    """What *request* adds to the log. Raises InvalidInput that names the field."""
    checks.required("session_id", request.session_id)
    checks.at_most_characters("session_id", request.session_id, MAX_SESSION)
    checks.at_most_characters("task", request.task, MAX_TASK)
    checks.at_most_characters("note", request.note, MAX_NOTE)
    now = time.time_ns() // 1_000_000
    used = []
    for field, kind in (("opened", FeedbackKind.OPENED), ("cited", FeedbackKind.CITED)):
        keys: Sequence[str] = getattr(request, field)
        checks.at_most_items(field, keys, MAX_USED)
        for number, key in enumerate(keys):
            checks.required(f"{field}[{number}]", key)
            checks.at_most_characters(f"{field}[{number}]", key, MAX_KEY)
            used.append(
                Feedback(
                    at=now,
                    kind=kind,
                    session=request.session_id,
                    evidence_key=key,
                    task=request.task,
                )
            )
    outcome = OUTCOME.from_proto(request.outcome, "outcome", unspecified=Outcome.UNKNOWN)
    end = Feedback(
        at=now,
        kind=FeedbackKind.OUTCOME,
        session=request.session_id,
        task=request.task,
        outcome=outcome,
        note=request.note,
    )
    return (*used, end)


def entry_to_proto(entry: Feedback) -> feedback_pb.FeedbackEntry:
    """The message of *entry*."""
    told = feedback_pb.FeedbackEntry(
        at=timestamp(entry.at),
        kind=KIND.to_proto(entry.kind),
        session_id=entry.session,
        evidence_key=entry.evidence_key,
        task=entry.task,
        note=entry.note,
    )
    if entry.kind is FeedbackKind.OUTCOME:
        told.outcome = OUTCOME.to_proto(entry.outcome)
    return told


def _one_of(field: str, first: object, second: object) -> None:
    if not first and not second:
        raise InvalidInput(field, f"Give `{field}` or a session.", reason="REQUIRED")
