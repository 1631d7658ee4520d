"""The log of evidence, through a real daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from tests.support.daemon import Daemon, running
from tests.support.details import failure, violated
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import feedback_service_pb2 as feedback
from twolane.v1 import search_service_pb2 as search
from twolane.v1.feedback_service_pb2_grpc import FeedbackServiceStub


@pytest_asyncio.fixture
async def daemon() -> AsyncIterator[Daemon]:
    async with running() as daemon:
        yield daemon


def log_of(daemon: Daemon) -> Any:
    return FeedbackServiceStub(daemon.channel)


async def saved(daemon: Daemon, summary: str) -> archive.SaveResponse:
    request = archive.SaveRequest(source="notes", summary=summary)
    reply: archive.SaveResponse = await daemon.archive.Save(request)
    return reply


async def told(daemon: Daemon, **fields: str) -> list[tuple[int, str, str]]:
    reply = await log_of(daemon).WhyEvidence(feedback.WhyEvidenceRequest(**fields))
    return [(entry.kind, entry.session_id, entry.evidence_key) for entry in reply.entries]


async def test_what_a_task_used_is_told_and_forgotten(daemon: Daemon) -> None:
    note = await saved(daemon, "The queue moved to Postgres.")
    key = note.evidence_key
    request = feedback.LogOutcomeRequest(
        session_id="s1", task="add retries", outcome=feedback.OUTCOME_HELPED,
        opened=[key], cited=[key], note="right at once",
    )  # fmt: skip

    assert (await log_of(daemon).LogOutcome(request)).entries == 3
    assert (await log_of(daemon).LogOutcome(request)).entries == 2, "an opening is there once"

    kinds = [kind for kind, _, _ in await told(daemon, evidence_key=key)]
    assert kinds == [feedback.FEEDBACK_KIND_CITED] * 2 + [feedback.FEEDBACK_KIND_OPENED]
    reply = await log_of(daemon).WhyEvidence(feedback.WhyEvidenceRequest(session_id="s1", limit=1))
    (newest,) = reply.entries
    assert (newest.kind, newest.outcome, newest.note) == (
        feedback.FEEDBACK_KIND_OUTCOME, feedback.OUTCOME_HELPED, "right at once",
    )  # fmt: skip
    forget = feedback.ForgetEvidenceRequest(session_ids=["s1"])
    assert (await log_of(daemon).ForgetEvidence(forget)).entries == 5
    assert await told(daemon, evidence_key=key) == []
    assert (await log_of(daemon).LogOutcome(request)).entries == 3


async def test_opening_is_recorded_once_a_session(daemon: Daemon) -> None:
    note = await saved(daemon, "Open me.")
    for session in ("a", "a", "b", ""):
        request = search.OpenEvidenceRequest(id=note.id, session_id=session)
        assert (await daemon.searching.OpenEvidence(request)).content == "Open me."
    sessions = [session for _, session, _ in await told(daemon, evidence_key=note.evidence_key)]
    assert sessions == ["b", "a"]


async def test_what_is_deleted_leaves_the_log_too(daemon: Daemon) -> None:
    kept, gone = await saved(daemon, "Stays."), await saved(daemon, "Goes.")
    request = feedback.LogOutcomeRequest(
        session_id="s", cited=[kept.evidence_key, gone.evidence_key]
    )
    await log_of(daemon).LogOutcome(request)
    await daemon.archive.Delete(archive.DeleteRequest(ids=[gone.id]))
    keys = {key for _, _, key in await told(daemon, session_id="s")}
    assert keys == {kept.evidence_key, ""}


async def test_the_log_changes_no_ranking_and_no_generation(daemon: Daemon) -> None:
    note = await saved(daemon, "The ferry leaves at noon.")
    before = [a async for a in daemon.searching.Search(search.SearchRequest(query="ferry"))][-1]
    request = feedback.LogOutcomeRequest(
        session_id="s", outcome=feedback.OUTCOME_FAILED, cited=[note.evidence_key]
    )
    await log_of(daemon).LogOutcome(request)
    after = [a async for a in daemon.searching.Search(search.SearchRequest(query="ferry"))][-1]
    assert before.receipt.index_generation == after.receipt.index_generation
    assert [r.id for r in before.results] == [r.id for r in after.results]


async def test_wrong_fields_are_named(daemon: Daemon) -> None:
    log = log_of(daemon)
    wrong = {
        "session_id": log.LogOutcome(feedback.LogOutcomeRequest()),
        "task": log.LogOutcome(feedback.LogOutcomeRequest(session_id="s", task="x" * 1_025)),
        "cited": log.LogOutcome(feedback.LogOutcomeRequest(session_id="s", cited=["k"] * 201)),
        "evidence_key": log.WhyEvidence(feedback.WhyEvidenceRequest()),
        "limit": log.WhyEvidence(feedback.WhyEvidenceRequest(session_id="s", limit=501)),
        "evidence_keys": log.ForgetEvidence(feedback.ForgetEvidenceRequest()),
    }
    for field, call in wrong.items():
        assert violated(await failure(call)) == field


async def test_the_log_outlives_the_daemon() -> None:
    async with running() as daemon:
        note = await saved(daemon, "Kept.")
        request = feedback.LogOutcomeRequest(session_id="s", cited=[note.evidence_key])
        await log_of(daemon).LogOutcome(request)
        await daemon.stop()
        await daemon.start()
        assert len(await told(daemon, evidence_key=note.evidence_key)) == 1
