"""One running writer: what it was asked and what it says, until it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence

import msgspec

from twolaned.model import errors
from twolaned.model.errors import InvalidInput, TwolaneError, Unavailable
from twolaned.services.ports import Command
from twolaned.writer.protocol import (
    Cancel,
    Committed,
    Done,
    Event,
    Failed,
    Progress,
    Ready,
    Request,
    frame,
    read_event,
)

log = logging.getLogger(__name__)
writer_log = logging.getLogger("twolaned.writer")

READY_SECONDS = 60.0
"""How long a writer may take to begin: it waits half of that for one that was left behind."""
_LEVELS = logging.getLevelNamesMapping()
_PREFIX = "writer: "

_KINDS: dict[str, type[TwolaneError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, TwolaneError)
}


class Pending:
    """A request that the writer has not ended. Only the latest progress is kept."""

    def __init__(self, number: int, command: Command) -> None:
        self.number = number
        self.command = command
        self.progress: Progress | None = None
        self.end: Done | TwolaneError | None = None
        self.news = asyncio.Event()

    def tell(self, progress: Progress) -> None:
        """The writer has come this far."""
        self.progress = progress
        self.news.set()

    def finish(self, end: Done | TwolaneError) -> None:
        """The request has ended."""
        self.end = end
        self.news.set()


class WriterSession:
    """Speaks to one writer process. *committed* is called with each generation it announces."""

    def __init__(self, process: Process, committed: Callable[[int], None]) -> None:
        self.process = process
        self._committed = committed
        self._number = 0
        self.pending: dict[int, Pending] = {}

    @classmethod
    async def start(cls, command: Sequence[str], committed: Callable[[int], None]) -> WriterSession:
        """Start a writer. It does not count as ready yet. Raises OSError."""
        # A session of its own: Ctrl-C at the terminal is for the server, which then ends it.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
        return cls(process, committed)

    async def handshake(self) -> bool:
        """Wait for the writer's first word. False if it ends or takes too long."""
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(READY_SECONDS):
                event = await read_event(self.process.stdout)
        except (TimeoutError, msgspec.DecodeError):
            log.exception("the writer did not come up as it should")
            return False
        if event is None or not isinstance(event.body, Ready):
            return False
        self._committed(event.body.generation)
        return True

    async def listen(self) -> None:
        """Handle what the writer says until it ends."""
        assert self.process.stdout is not None
        while (event := await read_event(self.process.stdout)) is not None:
            self._handle(event)

    async def forward_log(self) -> None:
        """Put what the writer logs into this process's log."""
        assert self.process.stderr is not None
        level = logging.WARNING
        async for line in self.process.stderr:
            text = line.decode("utf-8", "replace").rstrip()
            # Lines without the prefix belong to the one before: a traceback, say.
            if text.startswith(_PREFIX):
                word, _, rest = text.removeprefix(_PREFIX).partition(" ")
                level = _LEVELS.get(word, logging.ERROR)
                text = rest if word in _LEVELS else text
            writer_log.log(level, "%s", text)

    async def ask(self, command: Command) -> Pending:
        """Send *command*. Raises Unavailable if the writer has just ended."""
        self._number += 1
        pending = Pending(self._number, command)
        self.pending[pending.number] = pending
        self._send(Request(pending.number, command))
        try:
            assert self.process.stdin is not None
            await self.process.stdin.drain()
        except (ConnectionError, RuntimeError) as e:
            self.pending.pop(pending.number, None)
            raise went_away() from e
        except BaseException:
            self.leave(pending)
            raise
        return pending

    def leave(self, pending: Pending) -> None:
        """Nobody waits for *pending* any more; if it has not ended, it is cancelled."""
        if self.pending.pop(pending.number, None) is not None and pending.end is None:
            self._number += 1
            self._send(Request(self._number, Cancel(pending.number)))

    async def close(self, grace: float) -> None:
        """Close the writer's input, wait *grace* seconds for its end, then kill it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(grace):
                await self.process.wait()
        except TimeoutError:
            log.warning("the writer did not end within %.0f s and is killed", grace)
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()

    def end(self) -> None:
        """The process has gone: whatever waits for it fails."""
        for pending in self.pending.values():
            if pending.end is None:
                pending.finish(went_away())

    def _send(self, request: Request) -> None:
        assert self.process.stdin is not None
        if not self.process.stdin.is_closing():
            self.process.stdin.write(frame(request))

    def _handle(self, event: Event) -> None:
        body = event.body
        if isinstance(body, Committed):
            self._committed(body.generation)
            return
        pending = self.pending.get(event.request)
        if pending is None:  # the end of a cancel, or of what was cancelled
            return
        if isinstance(body, Progress):
            pending.tell(body)
        elif isinstance(body, Done):
            pending.finish(body)
        elif isinstance(body, Failed):
            pending.finish(error_of(body))


def error_of(failed: Failed) -> TwolaneError:
    """The error that the writer speaks of."""
    kind = _KINDS.get(failed.error, TwolaneError)
    error: TwolaneError
    if issubclass(kind, InvalidInput):
        error = kind(failed.field, failed.message, reason=failed.reason)
    else:
        error = kind(failed.message, reason=failed.reason)
    error.metadata.update(failed.metadata)
    return error


def went_away() -> Unavailable:
    """The error for a request whose writer ended under it."""
    return Unavailable(
        "The writer process ended while it was at work and is started again. Nothing that was"
        " acknowledged is lost. Try again.",
        reason="WRITER_RESTARTING",
    )
