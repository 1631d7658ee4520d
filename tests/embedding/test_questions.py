from __future__ import annotations

import asyncio
import logging
import time

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.embedding.fake_provider import FakeProvider, down, vector_of
from twolaned.embedding.breaker import BreakerSettings, CircuitState
from twolaned.embedding.cache import LruCache
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.gate import PrivacyViolation
from twolaned.embedding.questions import QuestionSettings
from twolaned.model.embedding import EmbeddingFailure, FailureReason, InputType
from twolaned.model.source import Extraction

IMPATIENT = QuestionSettings(slow=0.01, background=60.0, longest=60.0)


class Clock:
    """Time that passes by itself and can be moved on."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class Bench:
    """An embedder over a provider that can be told what to do."""

    def __init__(self, settings: QuestionSettings = IMPATIENT, failures: int = 3) -> None:
        self.provider = FakeProvider()
        self.backend = LruCache(100)
        self.clock = Clock()
        self.embedder = Embedder(
            self.provider,
            self.backend,
            questions=settings,
            breaker=BreakerSettings(failures=failures, cool_down=30.0),
            clock=self.clock,
        )

    async def ask(self, text: str, seconds: float = 5.0) -> NDArray[np.float32] | EmbeddingFailure:
        return await self.embedder.embed_question(text, self.clock() + seconds)

    async def reason(self, text: str, seconds: float = 5.0) -> FailureReason | None:
        answer = await self.ask(text, seconds)
        return answer.reason if isinstance(answer, EmbeddingFailure) else None


def same(answer: object, text: str) -> bool:
    return isinstance(answer, np.ndarray) and np.allclose(
        vector_of(text, InputType.QUERY), answer, atol=1e-6
    )


async def test_a_question_is_embedded_once() -> None:
    """Asked again it comes from memory; the vector cannot be written to."""
    bench = Bench()

    first, second = await bench.ask("why?"), await bench.ask("why?")

    assert same(first, "why?")
    assert same(second, "why?")
    assert [(["why?"], InputType.QUERY)] == bench.provider.calls
    assert isinstance(second, np.ndarray)
    assert not second.flags.writeable
    assert 1 == bench.embedder.state.cached_hits


async def test_a_question_on_disk_is_not_sent() -> None:
    """What an earlier process asked is known."""
    bench = Bench()
    await bench.ask("why?")
    later = FakeProvider()
    embedder = Embedder(later, bench.backend)

    answer = await embedder.embed_question("why?", time.monotonic() + 5.0)

    assert same(answer, "why?")
    assert [] == later.calls


async def test_a_cached_question_needs_no_time_and_no_closed_circuit() -> None:
    """With the deadline passed and the provider down it is still answered."""
    bench = Bench(failures=1)
    await bench.ask("why?")
    bench.provider.errors.append(down())
    assert FailureReason.PROVIDER_UNREACHABLE == await bench.reason("how?")
    assert FailureReason.CIRCUIT_OPEN == await bench.reason("how?")

    assert same(await bench.ask("why?", seconds=-1.0), "why?")


async def test_nothing_is_sent_when_no_time_is_left() -> None:
    """A call whose deadline has passed does no further work."""
    bench = Bench()

    assert FailureReason.TIMEOUT == await bench.reason("why?", seconds=0.0)
    assert [] == bench.provider.calls


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_an_empty_question_is_not_sent(text: str) -> None:
    """No service accepts it."""
    bench = Bench()

    assert FailureReason.PROVIDER_ERROR == await bench.reason(text)
    assert [] == bench.provider.calls


async def test_a_broken_character_is_replaced() -> None:
    """Half a surrogate pair cannot be written in UTF-8."""
    bench = Bench()

    assert same(await bench.ask("why \ud83d?"), "why ??")
    assert ["why ??"] == bench.provider.sent


async def test_equal_questions_at_the_same_time_are_one_call() -> None:
    """Ten editors that ask the same thing cost one call."""
    bench = Bench()
    bench.provider.hold()
    asks = [asyncio.create_task(bench.ask("why?")) for _ in range(10)]
    await bench.provider.until(lambda: len(bench.provider.calls) == 1)
    bench.provider.release()

    answers = await asyncio.gather(*asks)

    assert all(same(answer, "why?") for answer in answers)
    assert (1, 9) == (len(bench.provider.calls), bench.embedder.state.cached_hits)


async def test_a_client_that_hangs_up_cancels_the_call() -> None:
    """The provider's work ends with nobody waiting, and the circuit learns nothing from it."""
    bench = Bench(failures=1)
    bench.provider.hold()
    ask = asyncio.create_task(bench.ask("why?"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 1)

    ask.cancel()
    await asyncio.wait({ask})
    await bench.embedder.aclose()

    assert ask.cancelled()
    assert 1 == bench.provider.cancelled
    assert CircuitState.CLOSED == bench.embedder.state.circuit
    assert None is bench.embedder.state.last_failure


async def test_a_client_that_hangs_up_does_not_disturb_the_others() -> None:
    """The call goes on for who still waits."""
    bench = Bench()
    bench.provider.hold()
    leaving, staying = (asyncio.create_task(bench.ask("why?")) for _ in range(2))
    await bench.provider.until(lambda: len(bench.provider.calls) == 1)
    leaving.cancel()
    await asyncio.wait({leaving})
    bench.provider.release()

    assert same(await staying, "why?")
    assert 0 == bench.provider.cancelled


async def test_a_late_vector_goes_into_the_cache() -> None:
    """The question is answered without it at its deadline; asking again finds it."""
    bench = Bench()
    bench.provider.hold()
    failure = await bench.ask("why?", seconds=0.05)
    assert isinstance(failure, EmbeddingFailure)
    assert FailureReason.TIMEOUT == failure.reason
    assert failure.message.startswith("Fake did not embed the question within 0.")

    bench.provider.release()
    await bench.provider.until(lambda: bench.provider.finished == 1)

    assert same(await bench.ask("why?"), "why?")
    assert (1, 0) == (len(bench.provider.calls), bench.provider.cancelled)


async def test_a_late_call_ends_in_the_end() -> None:
    """It goes on for a bounded time."""
    bench = Bench(QuestionSettings(slow=0.01, background=0.02))
    bench.provider.hold()

    await bench.ask("why?", seconds=0.05)
    await bench.provider.until(lambda: bench.provider.cancelled == 1)

    assert 0 == len(bench.backend)


async def test_only_so_many_calls_go_on_in_the_background() -> None:
    """A provider that hangs does not gather calls without end."""
    bench = Bench(QuestionSettings(slow=60.0, background=60.0, background_calls=2))
    bench.provider.hold()

    await asyncio.gather(*(bench.ask(f"question {n}", seconds=0.05) for n in range(6)))
    await bench.provider.until(lambda: bench.provider.cancelled == 4)

    assert 2 == bench.embedder.state.in_flight
    await bench.embedder.aclose()
    assert 6 == bench.provider.cancelled


async def test_a_provider_that_hangs_is_left_alone_after_three_questions() -> None:
    """The fourth is not made to wait, and is told why and for how long."""
    bench = Bench()
    bench.provider.hold()
    for number in range(3):
        assert FailureReason.TIMEOUT == await bench.reason(f"question {number}", seconds=0.05)

    started = time.monotonic()
    failure = await bench.ask("question 4", seconds=5.0)

    assert time.monotonic() - started < 0.5
    assert isinstance(failure, EmbeddingFailure)
    assert FailureReason.CIRCUIT_OPEN == failure.reason
    assert failure.message.startswith("Fake is left alone for 30 s more after it failed: Fake did")
    assert failure.retry_after is not None
    assert 29.0 < failure.retry_after <= 30.0
    assert 3 == len(bench.provider.calls)
    await bench.embedder.aclose()


async def test_an_open_circuit_does_not_wait_for_a_call_that_is_still_there() -> None:
    """The same question again is answered at once as well."""
    bench = Bench(failures=1)
    bench.provider.hold()
    assert FailureReason.TIMEOUT == await bench.reason("why?", seconds=0.05)

    assert FailureReason.CIRCUIT_OPEN == await bench.reason("why?")
    await bench.embedder.aclose()


async def test_a_hasty_caller_does_not_open_the_circuit() -> None:
    """A hook that gives 20 ms says nothing about the provider."""
    bench = Bench(QuestionSettings(slow=10.0), failures=1)
    bench.provider.hold()
    for number in range(5):
        assert FailureReason.TIMEOUT == await bench.reason(f"question {number}", seconds=0.05)

    assert CircuitState.CLOSED == bench.embedder.state.circuit
    assert None is bench.embedder.state.healthy
    await bench.embedder.aclose()


async def test_a_provider_that_is_always_late_is_left_alone_although_it_answers() -> None:
    """Vectors that come after the deadline do not close the circuit again."""
    bench = Bench(failures=2)
    for number in range(2):
        bench.provider.hold()
        await bench.ask(f"question {number}", seconds=0.05)
        bench.provider.release()
        await bench.provider.until(lambda n=number: bench.provider.finished == n + 1)  # type: ignore[misc]

    assert FailureReason.CIRCUIT_OPEN == await bench.reason("question 3")


async def test_one_probe_finds_out_that_the_provider_is_back() -> None:
    """Others are not made to wait meanwhile; then everybody is served."""
    bench = Bench(failures=1)
    bench.provider.errors.append(down())
    await bench.ask("first")
    bench.clock.ahead += 30.0
    bench.provider.hold()
    probe = asyncio.create_task(bench.ask("probe"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 2)

    assert CircuitState.HALF_OPEN == bench.embedder.state.circuit
    assert FailureReason.CIRCUIT_OPEN == await bench.reason("other")
    same_as_probe = asyncio.create_task(bench.ask("probe"))
    await asyncio.sleep(0)
    bench.provider.release()

    assert same(await probe, "probe")
    assert same(await same_as_probe, "probe")
    assert same(await bench.ask("other"), "other")
    assert (CircuitState.CLOSED, True) == (
        bench.embedder.state.circuit,
        bench.embedder.state.healthy,
    )


async def test_a_probe_whose_client_hangs_up_lets_the_next_one_probe() -> None:
    """Also when it is cancelled before its call began."""
    bench = Bench(failures=1)
    bench.provider.errors.append(down())
    await bench.ask("first")
    bench.clock.ahead += 30.0
    for turns in (0, 1, 5):
        bench.provider.hold()
        probe = asyncio.create_task(bench.ask(f"probe {turns}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        probe.cancel()
        await asyncio.wait({probe})
        await asyncio.sleep(0)
        bench.provider.release()

    assert same(await bench.ask("next"), "next")


async def test_failures_are_not_tried_again() -> None:
    """A question has no time for it."""
    bench = Bench()
    bench.provider.errors.append(down())

    answer = await bench.ask("why?")

    assert EmbeddingFailure(FailureReason.PROVIDER_UNREACHABLE, "Fake cannot be reached.") == answer
    assert 1 == len(bench.provider.calls)


async def test_retry_after_is_kept() -> None:
    """One 429 is enough to leave the provider alone for as long as it asks."""
    bench = Bench()
    bench.provider.errors.append(
        EmbeddingError(FailureReason.RATE_LIMITED, "Fake was asked too often.", retry_after=7.0)
    )

    assert FailureReason.RATE_LIMITED == await bench.reason("why?")
    failure = await bench.ask("how?")

    assert isinstance(failure, EmbeddingFailure)
    assert FailureReason.CIRCUIT_OPEN == failure.reason
    assert "7 s more after it failed: Fake was asked too often." in failure.message


async def test_a_surprise_of_a_library_is_a_failure_and_not_an_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where it happened is logged, what it said is not: it may hold the question."""
    bench = Bench()
    bench.provider.errors.append(RuntimeError("could not handle: why did we sell?"))

    with caplog.at_level(logging.DEBUG):
        answer = await bench.ask("why did we sell?")

    assert isinstance(answer, EmbeddingFailure)
    assert "Fake failed in a way that was not foreseen (RuntimeError)." == answer.message
    assert "fake_provider.py" in caplog.text
    assert "why did we sell?" not in caplog.text


async def test_a_question_about_local_texts_is_not_sent_away() -> None:
    """A caller may say that a question is as private as its source."""
    bench = Bench()
    bench.provider.is_local = False

    with pytest.raises(PrivacyViolation):
        await bench.embedder.embed_question("why?", time.monotonic() + 5.0, Extraction.LOCAL)

    assert [] == bench.provider.calls


async def test_closing_answers_who_waits() -> None:
    """The daemon can stop while a question is under way."""
    bench = Bench()
    bench.provider.hold()
    ask = asyncio.create_task(bench.ask("why?"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 1)

    await bench.embedder.aclose()

    answer = await ask
    assert isinstance(answer, EmbeddingFailure)
    assert "The daemon is stopping." == answer.message
    assert bench.provider.closed
