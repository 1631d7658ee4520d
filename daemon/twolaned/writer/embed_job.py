"""Giving every passage a vector, in the background: resumable, and never in anybody's way.

One batch at a time: gathered in the writer's own loop, embedded on an event loop in a thread of
its own, appended and published in the writer's loop again. What is published is done, so a kill at
any moment costs at most the batch in hand, whose vectors are in the cache by then.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from twolaned.embedding import (
    Embedder,
    Embedders,
    EmbeddingError,
    EmbeddingPlan,
    LoopThread,
    PassageVectors,
)
from twolaned.model.embedding import VectorSpace
from twolaned.model.errors import TwolaneError
from twolaned.model.source import Extraction
from twolaned.store.vector_cache import VectorCacheFile
from twolaned.writer.committer import Committer
from twolaned.writer.to_embed import PassageBatch, Sweep
from twolaned.writer.vectors import Rewritten, VectorFiles

log = logging.getLogger(__name__)

BATCH_TEXTS = 64
BATCH_BYTES = 128 << 10
IDLE_SHARE = 0.25
"""The pause after a batch, as a share of the time that it took."""
BUSY_SHARE = 1.0
"""The same while an import or another long job runs."""
FIRST_RETRY = 15.0
LONGEST_RETRY = 600.0
"""Seconds to wait after a provider failed for good; doubled each time."""
REWRITE_SHARE = 0.25
"""A file with more dead vectors than this share is written anew."""
REWRITE_LEAST = 4_096
"""Dead vectors below which that is not worth it."""


@dataclass(slots=True)
class _Line:
    """The texts of one extraction, and who embeds them."""

    sweep: Sweep
    embedder: Embedder
    space: VectorSpace
    retry_after: float = 0.0
    """When to try again, in seconds of the monotonic clock."""
    wait: float = 0.0
    """Seconds to wait after the next failure, at least."""

    def failed(self, asked: float | None) -> None:
        wait = self.wait or FIRST_RETRY
        self.retry_after = time.monotonic() + max(asked or 0.0, wait)
        self.wait = min(wait * 2, LONGEST_RETRY)

    def succeeded(self) -> None:
        self.retry_after, self.wait = 0.0, 0.0


class EmbedJob:
    """What the writer's loop gives a turn to. *wake* is called when there is something to do.

    *plan* None, or one without providers, means that nothing is embedded.
    """

    def __init__(
        self,
        committer: Committer,
        executor: Executor,
        plan: EmbeddingPlan | None,
        cache: VectorCacheFile | None,
        wake: Callable[[Future[Any]], None],
    ) -> None:
        self._committer = committer
        self._executor = executor
        self._wake = wake
        self.files = VectorFiles(committer)
        self._loop = LoopThread("embedding")
        self._lines: list[_Line] = []
        self._embedders: Embedders | None = None
        if plan is not None and cache is not None:
            self._embedders = Embedders(plan, cache)
            self._lines = self._open_lines(self._embedders)
        self._batch: tuple[_Line, PassageBatch] | None = None
        self._flight: Future[PassageVectors] | None = None
        self._rewriting: Future[Rewritten] | None = None
        self._cache = cache
        self._purges: list[Future[None]] = []
        self._to_purge: list[str] = []
        self._dead: dict[str, int] = {}
        """Dead vectors by space, counted once and from then on as they die."""
        self._started = 0.0
        self._pause_until = 0.0

    @property
    def spaces(self) -> Sequence[VectorSpace]:
        """The spaces that vectors are made in, each once."""
        return tuple(dict.fromkeys(line.space for line in self._lines))

    @property
    def is_under_way(self) -> bool:
        """Whether a batch is being embedded or a file written anew."""
        return self._flight is not None or self._rewriting is not None

    def poll(self, *, busy: bool) -> None:
        """Take one short step, if one is due. *busy* says that a long job is under way.

        Raises DiskFull; the batch is then embedded again, from the cache.
        """
        if not self._lines and not self._purges:
            return
        try:
            self._step(busy=busy)
        except BaseException:
            self._pause_until = max(self._pause_until, time.monotonic() + FIRST_RETRY)
            raise

    def _step(self, *, busy: bool) -> None:
        fresh = self._committer.take_fresh()
        if fresh is not None:
            for line in self._lines:
                line.sweep.restart(fresh)
        self._count_dead()
        if self._rewriting is not None:
            if self._rewriting.done():
                self._finish_rewrite(self._rewriting)
        elif self._flight is not None:
            if self._flight.done():
                self._land(self._flight, busy=busy)
        elif self._purges:
            self._purge()
        elif time.monotonic() >= self._pause_until and not self._take_off():
            self._settle(busy=busy)

    def due(self) -> float | None:
        """Seconds until `poll` has something to do; None while only news can bring work."""
        if not self._lines or self._flight is not None or self._rewriting is not None:
            return None
        now = time.monotonic()
        waits = [
            max(line.retry_after, self._pause_until) - now
            for line in self._lines
            if not line.sweep.finished
        ]
        return max(0.0, min(waits)) if waits else None

    def close(self) -> None:
        """Cancel what is under way and close everything."""
        if self._flight is not None:
            self._flight.cancel()
        if self._embedders is not None:
            self._loop.submit(self._embedders.aclose()).result()
        self._loop.close()
        self.files.close()

    def _open_lines(self, embedders: Embedders) -> list[_Line]:
        lines = []
        for extraction in Extraction:
            embedder = embedders.for_extraction(extraction)
            if embedder is not None:
                sweep = Sweep(self._committer.store, extraction)
                lines.append(_Line(sweep, embedder, embedder.space))
        wanted = {str(line.space) for line in lines}
        for space, info in self.files.infos.items():
            retiring = space not in wanted and len(lines) == len(Extraction)
            if info.retiring != retiring:
                self.files.say(space, retiring=retiring)
        return lines

    def _take_off(self) -> bool:
        """Send the next batch. Returns whether there was one, or another step may find one."""
        for line in self._lines:
            if line.sweep.finished or time.monotonic() < line.retry_after:
                continue
            batch = line.sweep.batch(
                self.files.covered(line.space), texts=BATCH_TEXTS, size=BATCH_BYTES
            )
            if batch.texts:
                self._started = time.monotonic()
                self._batch = line, batch
                self._flight = self._loop.submit(
                    line.embedder.embed_passages(batch.texts, line.sweep.extraction)
                )
                self._flight.add_done_callback(self._wake)
            return True
        return False

    def _land(self, flight: Future[PassageVectors], *, busy: bool) -> None:
        assert self._batch is not None
        (line, batch), self._batch, self._flight = self._batch, None, None
        now = time.monotonic()
        self._pause_until = now + (now - self._started) * (BUSY_SHARE if busy else IDLE_SHARE)
        try:
            made = flight.result()
            # A text that its provider refuses has a vector of zeros, which is never found, so that
            # it is not sent again and again.
            self.files.append(
                line.space,
                np.array(batch.rows, np.uint32),
                np.array(batch.passages, np.uint32),
                made.vectors,
            )
        except (TwolaneError, CancelledError) as e:
            line.sweep.restart(batch.rows[0])
            after = e.failure.retry_after if isinstance(e, EmbeddingError) else None
            line.failed(after)
            if not isinstance(e, EmbeddingError):
                raise
            log.warning("passages wait for their vectors: %s", e.message)
        else:
            line.succeeded()
            for failure in dict.fromkeys(f.message for f in made.failures.values()):
                log.warning("a passage stays without a vector: %s", failure)

    def _settle(self, *, busy: bool) -> None:
        """Everything that can be embedded is: say so, and clear away what is not needed."""
        for each in self.spaces:
            if all(line.sweep.finished for line in self._lines if line.space == each):
                self.files.say(str(each), complete=True)
        if any(not line.sweep.finished for line in self._lines):
            return
        for space, info in list(self.files.infos.items()):
            if info.retiring:
                log.info("vectors of %s are replaced and removed", space)
                self.files.drop(space)
        for each in self.spaces:
            file = self.files.infos.get(str(each))
            if file is None or busy:
                continue
            if file.space not in self._dead:
                self._dead[file.space] = self.files.dead(file)
            dead = self._dead[file.space]
            if dead >= REWRITE_LEAST and dead > REWRITE_SHARE * file.count:
                self.start_rewrite(each)
                return

    def _count_dead(self) -> None:
        died = self._committer.take_dead()
        for space in self.spaces if died else ():
            if str(space) in self._dead:
                covered = self.files.covered(space)
                self._dead[str(space)] += sum(map(covered.of, died))

    def request_purge(self) -> Future[None]:
        """Ask for the vectors of rows that are gone to leave the disk, and the cache with them."""
        done: Future[None] = Future()
        self._purges.append(done)
        self._to_purge = list(self.files.infos)
        return done

    def _purge(self) -> None:
        """Write the next file anew; after the last one, empty the cache."""
        while self._to_purge:
            space = self._to_purge.pop()
            if space in self.files.infos:
                self.start_rewrite(VectorSpace.parse(space))
                return
        if self._cache is not None:
            self._cache.clear()
        waiting, self._purges = self._purges, []
        for done in waiting:
            done.set_result(None)

    def start_rewrite(self, space: VectorSpace) -> None:
        """Begin to write the file of *space* anew without dead vectors."""
        self._rewriting = self._executor.submit(self.files.rewrite, space)
        self._rewriting.add_done_callback(self._wake)

    def _finish_rewrite(self, rewriting: Future[Rewritten]) -> None:
        self._rewriting = None
        self._dead = {}
        try:
            self.files.publish_rewritten(rewriting.result())
        except Exception as e:
            waiting, self._purges = self._purges, []
            for done in waiting:
                done.set_exception(e)
            raise
