"""Who embeds the questions of this daemon."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path

from twolaned.config.settings import EmbeddingSettings
from twolaned.embedding import Embedders, off_because
from twolaned.embedding.plan import plan_of
from twolaned.search.live import LiveIndex
from twolaned.search.question import Questions
from twolaned.search.recall_check import AskedQuestions, RecallChecker
from twolaned.search.snapshot import IndexSnapshot
from twolaned.services.daemon_status import LaneStatus
from twolaned.store.layout import vector_cache_path
from twolaned.store.vector_cache import VectorCacheFile


def questions_of(
    settings: EmbeddingSettings, data: Path, stack: AsyncExitStack
) -> Questions | None:
    """Who embeds questions by *settings*; None where search by meaning is off.

    The cache is closed with *stack*. Raises ConfigError.
    """
    plan = plan_of(settings, os.environ, data)
    if plan is None:
        return None
    cache = VectorCacheFile(vector_cache_path(data), background=True)
    stack.callback(cache.close)
    return Questions(Embedders(plan, cache), off_because(plan))


def recall_checker(questions: Questions, live: LiveIndex, reading: Executor) -> RecallChecker:
    """Who checks the meaning lane of *live* with the questions that *questions* embeds."""
    asked = AskedQuestions()
    questions.on_vectors = asked.add
    return RecallChecker(asked, lambda: live.snapshot.meaning, reading)


def meaning_status(questions: Questions | None, snapshot: IndexSnapshot) -> LaneStatus:
    """How the meaning lane is, and how far the embedding of passages is."""
    if questions is None:
        return LaneStatus("meaning", "off", "No embedding provider is configured.")
    if not questions.is_on(snapshot.meaning):
        return LaneStatus("meaning", "off", questions.off_because)
    for state in questions.providers:
        if state.healthy is False and state.last_failure is not None:
            return LaneStatus("meaning", "failing", state.last_failure.message)
    if snapshot.meaning.loading:
        return LaneStatus("meaning", "ready", "The vectors are being read.")
    done, passages = snapshot.meaning.count, snapshot.keyword.passages
    if done < passages:
        return LaneStatus("meaning", "ready", f"{done} of {passages} passages have a vector.")
    return LaneStatus("meaning", "ready", "It answers.")
