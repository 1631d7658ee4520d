from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.embedding.fake_provider import FakeProvider, down, rejected, vector_of
from twolaned.embedding.cache import LruCache
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.gate import PrivacyViolation
from twolaned.embedding.passages import SYSTEMIC, PassageVectors
from twolaned.embedding.provider import BatchLimits
from twolaned.embedding.retry import RetryPolicy
from twolaned.model.embedding import FailureReason, InputType
from twolaned.model.source import Extraction


class Bench:
    """An embedder whose pauses take no time."""

    def __init__(self, provider: FakeProvider | None = None, attempts: int = 6) -> None:
        self.provider = provider or FakeProvider()
        self.backend = LruCache(10_000)
        self.pauses: list[float] = []
        self.embedder = Embedder(
            self.provider,
            self.backend,
            retry=RetryPolicy(sleep=self._sleep, attempts=attempts),
        )

    async def embed(self, *texts: str) -> PassageVectors:
        return await self.embedder.embed_passages(texts, Extraction.DEFAULT)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)


def right(vectors: NDArray[np.float32], *texts: str) -> bool:
    expected = np.array([vector_of(text, InputType.DOCUMENT) for text in texts])
    return vectors.shape == expected.shape and np.allclose(expected, vectors, atol=1e-6)


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    """Over several batches, some of them cached, some texts twice."""
    bench = Bench()
    await bench.embed("b", "e")
    texts = ["a", "b", "c", "a", "d", "e", "f", "g", "h", "c"]

    made = await bench.embed(*texts)

    assert right(made.vectors, *texts)
    assert {} == made.failures
    assert np.float32 == made.vectors.dtype
    assert sorted("abcdefgh") == sorted(bench.provider.sent)
    assert {InputType.DOCUMENT} == {input_type for _, input_type in bench.provider.calls}


async def test_nothing_is_sent_twice() -> None:
    """The second time everything is in the cache, also for another process."""
    bench = Bench()
    texts = [f"passage {number}" for number in range(20)]
    await bench.embed(*texts)
    again = FakeProvider()

    made = await Embedder(again, bench.backend).embed_passages(texts, Extraction.DEFAULT)

    assert right(made.vectors, *texts)
    assert [] == again.calls


async def test_no_texts_need_no_call() -> None:
    """An empty list has an empty answer."""
    bench = Bench()

    made = await bench.embed()

    assert (0, 8) == made.vectors.shape
    assert [] == bench.provider.calls


async def test_calls_keep_the_providers_limits() -> None:
    """At most so many texts and bytes a call, and so many calls at the same time."""
    limits = BatchLimits(texts=5, bytes=40, calls=3)
    bench = Bench(FakeProvider(limits=limits))
    texts = [f"{number:02}" * (1 + number % 7) for number in range(60)]

    made = await bench.embed(*texts)

    assert right(made.vectors, *texts)
    for batch, _ in bench.provider.calls:
        assert len(batch) <= 5
        assert sum(map(len, batch)) <= 40
    assert 3 == bench.provider.most_at_once


async def test_a_passage_that_is_under_way_is_not_sent_again() -> None:
    """Two jobs that share texts share the calls for them."""
    bench = Bench()
    bench.provider.hold()
    one = asyncio.create_task(bench.embed("a", "b", "c"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 1)
    other = asyncio.create_task(bench.embed("c", "d"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 2)
    bench.provider.release()

    first, second = await asyncio.gather(one, other)

    assert right(first.vectors, "a", "b", "c")
    assert right(second.vectors, "c", "d")
    assert ["a", "b", "c", "d"] == sorted(bench.provider.sent)


async def test_a_cancelled_job_ends_only_what_nobody_else_needs() -> None:
    """The shared call goes on, the rest is cancelled."""
    bench = Bench(FakeProvider(limits=BatchLimits(texts=1, bytes=100, calls=4)))
    bench.provider.hold()
    one = asyncio.create_task(bench.embed("mine", "shared"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 2)
    other = asyncio.create_task(bench.embed("shared"))
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.wait({one})
    await bench.provider.until(lambda: bench.provider.cancelled == 1)
    bench.provider.release()

    assert right((await other).vectors, "shared")
    assert 1 == bench.provider.cancelled


async def test_it_tries_again_with_pauses() -> None:
    """A passing trouble of the provider costs time only."""
    bench = Bench()
    bench.provider.errors.extend([down(), down(retry_after=4.0), down()])

    made = await bench.embed("a")

    assert right(made.vectors, "a")
    assert (4, 3) == (len(bench.provider.calls), len(bench.pauses))
    assert bench.pauses[1] > 4.0


async def test_what_was_made_before_a_failure_is_kept() -> None:
    """The job goes on where it stopped, the next time."""
    bench = Bench(FakeProvider(limits=BatchLimits(texts=2, bytes=100, calls=1)), attempts=2)
    bench.provider.judge = lambda texts: down() if "e" in texts else None
    with pytest.raises(EmbeddingError, match="cannot be reached") as caught:
        await bench.embed("a", "b", "c", "d", "e", "f")
    assert FailureReason.PROVIDER_UNREACHABLE == caught.value.failure.reason
    bench.provider.judge = lambda _: None
    before = len(bench.provider.calls)

    made = await bench.embed("a", "b", "c", "d", "e", "f")

    assert right(made.vectors, *"abcdef")
    assert [["e", "f"]] == [texts for texts, _ in bench.provider.calls[before:]]


async def test_a_failure_ends_the_other_calls_of_the_job() -> None:
    """Nothing is left running behind a job that failed."""
    bench = Bench(FakeProvider(limits=BatchLimits(texts=1, bytes=100, calls=4)), attempts=1)
    bench.provider.hold()
    job = asyncio.create_task(bench.embed("a", "b", "c"))
    await bench.provider.until(lambda: len(bench.provider.calls) == 3)
    bench.provider.errors.append(down())
    bench.provider.release()

    with pytest.raises(EmbeddingError):
        await job
    await bench.embedder.aclose()

    assert 0 == bench.embedder.state.in_flight


@pytest.mark.parametrize("bad", [{0}, {7}, {3, 4}, {1, 5, 6}])
async def test_one_bad_text_does_not_fail_its_batch(bad: set[int]) -> None:
    """It is singled out by halving; its row is zero and says why."""
    bench = Bench(FakeProvider(limits=BatchLimits(texts=8, bytes=1_000)))
    texts = [f"text {number}" for number in range(8)]
    wrong = {texts[number] for number in bad}
    bench.provider.judge = lambda sent: rejected("refused") if wrong & set(sent) else None

    made = await bench.embed(*texts)

    good = [number for number in range(8) if number not in bad]
    assert right(made.vectors[good], *(texts[number] for number in good))
    assert bad == set(made.failures)
    assert {"refused"} == {failure.message for failure in made.failures.values()}
    assert not made.vectors[sorted(bad)].any()
    assert len(bench.provider.calls) <= 1 + 2 * 3 * len(bad)


async def test_a_bad_text_alone_is_told_from_a_bad_setting() -> None:
    """A provider that never took anything is set up wrong; one that has is not."""
    bench = Bench()
    bench.provider.judge = lambda sent: rejected("refused") if "bad" in sent else None
    with pytest.raises(EmbeddingError, match="refused"):
        await bench.embed("bad")
    await bench.embed("good")

    made = await bench.embed("bad")

    assert [0] == list(made.failures)


async def test_a_setting_that_is_refused_costs_few_calls() -> None:
    """A wrong model is not tried out with every text, however many there are."""
    bench = Bench(FakeProvider(limits=BatchLimits(texts=128, bytes=100_000)))
    await bench.embed("good")
    bench.provider.judge = lambda _: rejected("no such model")

    with pytest.raises(EmbeddingError, match="no such model"):
        await bench.embed(*(f"text {number}" for number in range(128)))

    assert len(bench.provider.calls) <= 2 + 7 * 2 + SYSTEMIC * 2


async def test_a_failure_while_singling_out_ends_the_job() -> None:
    """Trouble of another kind is not held against the text."""
    bench = Bench()
    bench.provider.errors.extend([rejected(), down()])

    with pytest.raises(EmbeddingError, match="cannot be reached"):
        await bench.embed("a", "b")


async def test_empty_texts_are_refused_here() -> None:
    """They fail no batch, since they are not sent."""
    bench = Bench()

    made = await bench.embed("a", "", "b", " \n")

    assert right(made.vectors[[0, 2]], "a", "b")
    assert [1, 3] == sorted(made.failures)
    assert ["a", "b"] == bench.provider.sent


@pytest.mark.parametrize("cached", [True, False])
async def test_local_texts_are_not_sent_away(cached: bool) -> None:
    """Nor looked up as if they might have been."""
    bench = Bench(FakeProvider(is_local=False))
    if cached:
        await bench.embed("a")
    before = len(bench.provider.calls)

    with pytest.raises(PrivacyViolation):
        await bench.embedder.embed_passages(["a"], Extraction.LOCAL)

    assert before == len(bench.provider.calls)


async def test_a_provider_that_turns_out_remote_gets_no_further_batch() -> None:
    """The gate is asked before each call, repetitions included."""
    bench = Bench()

    def turn(_: list[str]) -> Exception:
        bench.provider.is_local = False
        return down()

    bench.provider.judge = turn
    with pytest.raises(PrivacyViolation):
        await bench.embedder.embed_passages(["a"], Extraction.LOCAL)

    assert 1 == len(bench.provider.calls)


@pytest.mark.parametrize("seed", range(8))
async def test_jobs_that_come_and_go(seed: int) -> None:
    """Every patient job has the right vectors; no text is sent again after it was made."""
    draw = random.Random(seed)
    bench = Bench(FakeProvider(limits=BatchLimits(texts=3, bytes=1_000, calls=2)))
    words = [f"word {number}" for number in range(12)]
    patient: list[tuple[list[str], asyncio.Task[PassageVectors]]] = []
    hasty: list[tuple[list[str], asyncio.Task[PassageVectors]]] = []
    for _ in range(25):
        texts = draw.choices(words, k=draw.randrange(1, 7))
        job = asyncio.create_task(bench.embed(*texts))
        (patient if draw.random() < 0.6 else hasty).append((texts, job))
        for _ in range(draw.randrange(4)):
            await asyncio.sleep(0)
        if hasty and draw.random() < 0.5:
            draw.choice(hasty)[1].cancel()
    for texts, job in patient:
        assert right((await job).vectors, *texts)
    await asyncio.wait([job for _, job in hasty])
    await bench.embedder.aclose()

    assert 0 == bench.embedder.state.in_flight
    assert len(bench.provider.sent) <= len(words) + 3 * bench.provider.cancelled
