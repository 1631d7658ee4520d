"""The writer's loop: one thing at a time, a person's own writes first, bulk work in small steps."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO

from twolaned.embedding import EmbeddingPlan
from twolaned.ingest.reader import IngestLimits
from twolaned.model.backup import CopyProgress
from twolaned.model.compaction import CompactionProgress
from twolaned.model.errors import DiskFull, InvalidInput, TwolaneError
from twolaned.model.report import ImportReport
from twolaned.store import Store
from twolaned.store.vector_cache import VectorCacheFile
from twolaned.writer.backup_job import backup_job
from twolaned.writer.committer import Committer
from twolaned.writer.compact_job import compact_job
from twolaned.writer.context import Job, JobContext, TellBackup, TellCompaction
from twolaned.writer.delete_job import delete_job
from twolaned.writer.embed_job import EmbedJob
from twolaned.writer.feedback_job import forget_feedback_job, log_feedback_job
from twolaned.writer.import_job import import_job
from twolaned.writer.maintenance import Maintenance, Sealed
from twolaned.writer.moves import sweep_moves
from twolaned.writer.protocol import (
    AddSource,
    Backup,
    Cancel,
    Cancelled,
    Committed,
    Compact,
    Delete,
    Done,
    Event,
    Failed,
    ForgetFeedback,
    ImportPath,
    LogFeedback,
    Progress,
    Ready,
    RemoveSource,
    Request,
    Rollback,
    Save,
    ScanSources,
    frame,
    read_request,
)
from twolaned.writer.rollback_job import rollback_job
from twolaned.writer.save_job import save_job
from twolaned.writer.source_jobs import add_source_job, remove_source_job, scan_job
from twolaned.writer.tombstones import Tombstones

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.1
RETRY_MAINTENANCE_SECONDS = 30.0
"""How long to wait after maintenance failed, such as on a full disk."""


@dataclass(slots=True)
class _Running:
    """A long job and what it waits for."""

    number: int
    job: Job
    waiting: Future[Any] | None = None


class WriterLoop:
    """Serves requests from *requests* and says what happens on *events*, until end of file."""

    def __init__(
        self,
        store: Store,
        requests: BinaryIO,
        events: BinaryIO,
        limits: IngestLimits,
        plan: EmbeddingPlan | None = None,
        cache: VectorCacheFile | None = None,
    ) -> None:
        self._requests = requests
        self._events = events
        self._speaking = threading.Lock()
        self._inbox: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        # A thread each for what a job waits for, for merges and for a backup.
        self._pool = ThreadPoolExecutor(3, "sealing")
        self._committer = Committer(store, self._announce)
        self._maintenance = Maintenance(self._committer, self._pool)
        self._embedding = EmbedJob(self._committer, self._pool, plan, cache, self._wake)
        self._context = JobContext(
            self._committer,
            self._pool,
            limits,
            self._maintenance,
            Tombstones(store),
            self._embedding,
        )
        for _ in sweep_moves(store):
            continue
        self._jobs: deque[_Running] = deque()
        self._aside: list[_Running] = []
        """Jobs that change nothing and run beside the first of `_jobs`."""
        self._task: Future[Sealed] | None = None
        self._maintain_after = 0.0
        self._folding = False
        self._stopped = False
        self._last_progress = 0.0

    def run(self) -> None:
        """Work until the other end closes the pipe."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()
        self._send(0, Ready(self._committer.generation))
        while not self._stopped:
            self._maintain()
            self._embed()
            self._receive(self._patience())
            self._advance()
        for running in (*self._jobs, *self._aside):
            running.job.close()
        self._embedding.close()
        self._pool.shutdown(cancel_futures=True)

    def _read(self) -> None:
        while (request := read_request(self._requests)) is not None:
            self._inbox.put(request)
        self._inbox.put(None)

    def _wake(self, _: Future[Any]) -> None:
        self._inbox.put(Request(0, Cancel(0)))

    def _patience(self) -> float | None:
        """Seconds to wait for a request: none while a job can go on, for ever when idle."""
        first = [*self._aside, *list(self._jobs)[:1]]
        if self._folding or any(not self._is_waiting(running) for running in first):
            return 0.0
        due = [self._maintenance.sweep(), self._embedding.due()]
        if self._task is None and not self._jobs:
            due.append(self._maintenance.due())
        if self._maintain_after:
            due.append(max(0.0, self._maintain_after - time.monotonic()))
        waits = [seconds for seconds in due if seconds is not None]
        return min(waits) if waits else None

    @staticmethod
    def _is_waiting(running: _Running) -> bool:
        return running.waiting is not None and not running.waiting.done()

    def _receive(self, patience: float | None) -> None:
        """Handle all requests that are there, waiting at most *patience* seconds for the first."""
        try:
            request = self._inbox.get(block=patience != 0.0, timeout=patience or None)
            while True:
                if request is None:
                    self._stopped = True
                    return
                self._accept(request)
                request = self._inbox.get_nowait()
        except queue.Empty:
            return

    def _accept(self, request: Request) -> None:
        number = request.number
        match request.command:
            case Cancel(request=0):
                return
            case Cancel(request=victim):
                self._cancel(victim)
                self._send(number, Done(Cancelled(), self._committer.generation))
            case Save() as save:
                self._finish_at_once(number, save_job(self._context, save))
            case AddSource() as add:
                self._finish_at_once(number, add_source_job(self._context, add))
            case LogFeedback() as entries:
                self._finish_at_once(number, log_feedback_job(self._context, entries))
            case ForgetFeedback() as forget:
                self._finish_at_once(number, forget_feedback_job(self._context, forget))
            case RemoveSource() as remove:
                self._jobs.append(_Running(number, remove_source_job(self._context, remove)))
            case ImportPath() as path:
                tell = self._teller(number)
                self._jobs.append(_Running(number, import_job(self._context, path, tell)))
            case Delete() as delete:
                self._jobs.append(_Running(number, delete_job(self._context, delete)))
            case Compact() as compact:
                told = self._compaction_teller(number)
                self._jobs.append(_Running(number, compact_job(self._context, compact, told)))
            case Rollback():
                told = self._compaction_teller(number)
                self._jobs.append(_Running(number, rollback_job(self._context, told)))
            case Backup() as backup:
                job = backup_job(self._context, backup, self._backup_teller(number))
                self._aside.append(_Running(number, job))
            case ScanSources() as scan:
                tell = self._teller(number)
                self._jobs.append(_Running(number, scan_job(self._context, scan, tell)))

    def _finish_at_once(self, number: int, job: Job) -> None:
        """Run a short job to its end, before any bulk work goes on."""
        running = _Running(number, job)
        while not self._step(running):
            if running.waiting is not None:
                running.waiting.exception()

    def _advance(self) -> None:
        """Give the first long job one step, and all that run beside it."""
        for running in list(self._aside):
            if not self._is_waiting(running) and self._step(running):
                self._aside.remove(running)
        if self._jobs and not self._is_waiting(self._jobs[0]) and self._step(self._jobs[0]):
            self._jobs.popleft()

    def _step(self, running: _Running) -> bool:
        """Take *running* to its next yield. Returns whether it has ended."""
        try:
            running.waiting = next(running.job)
        except StopIteration as end:
            self._send(running.number, Done(end.value, self._committer.generation))
            return True
        except TwolaneError as e:
            self._fail(running.number, e)
            return True
        except Exception as e:
            log.exception("a job failed")
            error = TwolaneError("The daemon could not finish this. Its log says why.")
            error.__cause__ = e
            self._fail(running.number, error)
            return True
        if running.waiting is not None:
            running.waiting.add_done_callback(self._wake)
        return False

    def _cancel(self, victim: int) -> None:
        for jobs in (self._jobs, self._aside):
            for running in [running for running in jobs if running.number == victim]:
                running.job.close()
                jobs.remove(running)
                self._send(victim, Done(Cancelled(), self._committer.generation))

    def _fail(self, number: int, error: TwolaneError) -> None:
        field = error.field if isinstance(error, InvalidInput) else ""
        self._send(
            number,
            Failed(type(error).__name__, error.reason, error.message, field, error.metadata),
        )

    def _maintain(self) -> None:
        """Start the background task that is due and publish one that has ended."""
        self._folding = False
        if self._task is not None:
            if not self._task.done():
                return
            self._try(self._publish_task)
        if time.monotonic() < self._maintain_after:
            return
        self._maintain_after = 0.0
        self._try(self._start_task)
        self._try(self._fold)

    def _embed(self) -> None:
        try:
            self._embedding.poll(busy=bool(self._jobs))
        except DiskFull:
            log.warning("embedding waits: the disk is full")
        except Exception:
            log.exception("embedding failed; it is tried again")

    def _start_task(self) -> None:
        self._task = self._maintenance.start(busy=bool(self._jobs))
        if self._task is not None:
            self._task.add_done_callback(self._wake)

    def _fold(self) -> None:
        self._folding = self._maintenance.fold_terms()

    def _publish_task(self) -> None:
        task, self._task = self._task, None
        assert task is not None
        self._maintenance.finish(task.result())

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except DiskFull:
            log.warning("maintenance waits: the disk is full")
            self._maintain_after = time.monotonic() + RETRY_MAINTENANCE_SECONDS
        except Exception:
            log.exception("maintenance failed; it is tried again")
            self._maintain_after = time.monotonic() + RETRY_MAINTENANCE_SECONDS

    def _teller(self, number: int) -> Callable[[ImportReport, str], None]:
        def tell(report: ImportReport, source_id: str) -> None:
            now = time.monotonic()
            if now - self._last_progress >= PROGRESS_SECONDS:
                self._last_progress = now
                self._send(number, Progress(report, source_id))

        return tell

    def _compaction_teller(self, number: int) -> TellCompaction:
        def tell(progress: CompactionProgress) -> None:
            now = time.monotonic()
            if now - self._last_progress >= PROGRESS_SECONDS:
                self._last_progress = now
                self._send(number, Progress(ImportReport(), compaction=progress))

        return tell

    def _backup_teller(self, number: int) -> TellBackup:
        due = 0.0

        def tell(progress: CopyProgress) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + PROGRESS_SECONDS
                self._send(number, Progress(ImportReport(), copied=progress))

        return tell

    def _announce(self, generation: int) -> None:
        self._send(0, Committed(generation))

    def _send(self, number: int, body: Ready | Committed | Progress | Done | Failed) -> None:
        try:
            with self._speaking:
                self._events.write(frame(Event(number, body)))
                self._events.flush()
        except BrokenPipeError:
            self._stopped = True
