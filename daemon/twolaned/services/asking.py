"""Asking for a question's vectors while an answer by keyword may go out already."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from twolaned.search.question import NO_TEXT, NOT_YET, MeaningQuestion, Questions, deadline_of
from twolaned.search.snapshot import IndexSnapshot


async def meanings(
    questions: Questions | None,
    snapshot: IndexSnapshot,
    text: str,
    arrived: float,
    *,
    partial: bool,
    remaining: float | None,
) -> AsyncGenerator[MeaningQuestion | None, None]:
    """Yield the question *text* as each answer is to take it, the last one final.

    None means that search by meaning is off. With *partial* a question that takes time to embed is
    yielded first without its vectors. *arrived* is seconds of the monotonic clock, *remaining* for
    how many seconds the caller still waits. Closing the generator cancels the embedding.
    """
    if questions is None or not questions.is_on(snapshot.meaning):
        yield None
        return
    if not text:
        yield NO_TEXT
        return
    if partial:
        known = await questions.recall(text, snapshot.meaning)
        if known is not None:
            yield known
            return
        # The call begins when this answer is out: beside one another they would take turns at the
        # interpreter, and both be slow.
        yield NOT_YET
    yield await questions.ask(text, snapshot.meaning, deadline_of(arrived, remaining))
