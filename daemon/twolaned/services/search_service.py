"""`twolane.v1.SearchService`."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from grpc import aio

from twolane.v1 import search_service_pb2 as search
from twolane.v1 import search_service_pb2_grpc as search_grpc
from twolaned.model.errors import TwolaneError
from twolaned.model.feedback import Feedback, FeedbackKind
from twolaned.services import checks
from twolaned.services.call import arrival
from twolaned.services.convert_answer import answer_to_proto
from twolaned.services.convert_enums import SUGGESTION
from twolaned.services.convert_evidence import evidence_to_proto, opening_from_proto
from twolaned.services.convert_query import query_from_proto
from twolaned.services.ports import Writer
from twolaned.services.searches import Searches
from twolaned.writer.protocol import LogFeedback

Context = aio.ServicerContext[Any, Any]


log = logging.getLogger(__name__)

MAX_SESSION = 200
"""Characters of a session's name."""
MAX_PREFIX = 1_024
"""Characters of a prefix to complete."""
MAX_SUGGESTIONS = 50
DEFAULT_SUGGESTIONS = 8


class SearchService(search_grpc.SearchServiceServicer):
    """Answers questions and opens what was found."""

    def __init__(self, searches: Searches, writer: Writer) -> None:
        self._searches = searches
        self._writer = writer

    async def Search(  # noqa: N802
        self, request: search.SearchRequest, context: Context
    ) -> AsyncIterator[search.SearchResponse]:
        """Search. A client that hangs up cancels the embedding of its question."""
        answers = self._searches.answers(
            query_from_proto(request),
            arrival(),
            partial=request.partial,
            remaining=context.time_remaining(),
        )
        async with aclosing(answers):
            async for answer in answers:
                yield answer_to_proto(answer)

    async def OpenEvidence(  # noqa: N802
        self, request: search.OpenEvidenceRequest, _: Context
    ) -> search.OpenEvidenceResponse:
        """Open one row."""
        checks.at_most_characters("session_id", request.session_id, MAX_SESSION)
        opening = opening_from_proto(request)
        opened = await self._searches.open(
            opening.id, opening.form, opening.offset, opening.max_bytes
        )
        if request.session_id:
            await self._record(request.session_id, opened.evidence_key)
        return evidence_to_proto(opened)

    async def _record(self, session: str, evidence_key: str) -> None:
        """Note that *session* opened this. What was opened is shown, noted or not."""
        entry = Feedback(
            at=time.time_ns() // 1_000_000,
            kind=FeedbackKind.OPENED,
            session=session,
            evidence_key=evidence_key,
        )
        try:
            await self._writer.call(LogFeedback((entry,)))
        except TwolaneError as error:
            log.warning("an opening was not recorded: %s", error.message)

    async def Suggest(  # noqa: N802
        self, request: search.SuggestRequest, _: Context
    ) -> search.SuggestResponse:
        """Complete what a person is typing."""
        checks.at_most_characters("prefix", request.prefix, MAX_PREFIX)
        checks.between("limit", request.limit, 0, MAX_SUGGESTIONS)
        limit = request.limit or DEFAULT_SUGGESTIONS
        found = await self._searches.suggest(request.prefix, limit)
        return search.SuggestResponse(
            suggestions=[
                search.Suggestion(text=s.text, kind=SUGGESTION.to_proto(s.kind), id=s.row_id)
                for s in found
            ]
        )
