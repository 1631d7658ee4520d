"""The life of the one child: started, followed, started again when it dies, ended at the last."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from twolaned.model.errors import TwolaneError, Unavailable
from twolaned.server.index_follower import IndexFollower
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.writer_session import Pending, WriterSession
from twolaned.services.ports import Command
from twolaned.writer.protocol import (
    Backup,
    Compact,
    Done,
    ImportPath,
    Progress,
    RemoveSource,
    Rollback,
    ScanSources,
)

log = logging.getLogger(__name__)

FIRST_DELAY = 0.2
"""Seconds until a writer that died is started again; doubled each time."""
LONGEST_DELAY = 30.0
STEADY_SECONDS = 60.0
"""A writer that lived this long is not in a loop of crashes."""
STRAY_GRACE = 1.0
"""Seconds that a writer has to go away when it has fallen silent or speaks nonsense."""
PATIENCE = 2.0
"""Seconds that a request waits for a writer that is just coming up."""


def writer_command(data: Path, config: Path | None = None) -> list[str]:
    """How the writer of the data folder *data* is started, to embed as the file *config* says."""
    # -P: a folder that happens to be the current one must not provide modules.
    command = [sys.executable, "-P", "-m", "twolaned.writer", "--data", str(data)]
    return command if config is None else [*command, "--config", str(config)]


class WriterProcess:
    """Runs *command* and passes requests to it.

    A request returns when *follower* has applied what it did, so that the next search sees it.
    """

    def __init__(
        self,
        command: Sequence[str],
        follower: IndexFollower,
        errors: RecentErrors,
    ) -> None:
        self._command = command
        self._follower = follower
        self._errors = errors
        self._changed: Callable[[], None] = lambda: None
        self._session: WriterSession | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._retry_at = 0.0
        self.state = "restarting"
        """``running``, ``restarting`` or ``stopped``."""

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever `state` becomes another."""
        self._changed = callback

    @property
    def activity(self) -> str:
        """What the writer is doing, as a person would say it; empty if it is idle."""
        waiting = [] if self._session is None else list(self._session.pending.values())
        doing = [text for pending in waiting if (text := _activity(pending))]
        if not doing:
            return ""
        return doing[0] if len(doing) == 1 else f"{doing[0]}; {len(doing) - 1} more waiting"

    async def run(self) -> None:
        """Keep a writer running until `stop`, or until cancelled, which kills it."""
        delay = FIRST_DELAY
        while not self._stop.is_set():
            began = time.monotonic()
            why = await self._live_once()
            if self._stop.is_set():
                break
            if time.monotonic() - began >= STEADY_SECONDS:
                delay = FIRST_DELAY
            log.error("the writer ended (%s); it is started again in %.1f s", why, delay)
            self._errors.add("writer", f"The writer ended ({why}) and is started again.")
            self._retry_at = time.monotonic() + delay
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._stop.wait()
            delay = min(delay * 2, LONGEST_DELAY)
        self._become("stopped")

    async def stop(self, grace: float) -> None:
        """Close the writer's input, wait *grace* seconds for its end, then kill it."""
        self._stop.set()
        session = self._session
        if session is None:
            return
        await session.close(grace)

    async def call(self, command: Command) -> Done:
        """Run *command*; on return a search sees what it did.

        Raises what it failed with, and Unavailable.
        """
        async with aclosing(self.stream(command)) as events:
            async for event in events:
                if isinstance(event, Done):
                    return event
        raise AssertionError("a stream ends with Done or an error")

    async def stream(self, command: Command) -> AsyncGenerator[Progress | Done, None]:
        """Run *command*, yielding its latest progress and then its end; see `call`."""
        session = await self._ready_session()
        pending = await session.ask(command)
        try:
            while pending.end is None:
                await pending.news.wait()
                pending.news.clear()
                progress, pending.progress = pending.progress, None
                if progress is not None and pending.end is None:
                    yield progress
            if isinstance(pending.end, TwolaneError):
                raise pending.end
            await self._follower.reach(pending.end.generation)
            yield pending.end
        finally:
            session.leave(pending)

    async def _ready_session(self) -> WriterSession:
        # Where the next try is further off, whoever asks is told so at once.
        is_near = self._retry_at - time.monotonic() < PATIENCE
        if is_near and not self._ready.is_set() and not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._ready.wait()
        if self._session is None or not self._ready.is_set():
            raise Unavailable(
                "The writer process is not running at the moment; it is started again by itself."
                " Try again; `twolane status` says what went wrong.",
                retry_after=max(FIRST_DELAY, self._retry_at - time.monotonic()),
                reason="WRITER_RESTARTING",
            )
        return self._session

    async def _live_once(self) -> str:
        """Start a writer, serve it until it ends, and say why it did."""
        try:
            session = await WriterSession.start(self._command, self._follower.announce)
        except OSError as e:
            return f"it could not be started: {e.strerror}"
        self._session = session
        forwarding = asyncio.create_task(session.forward_log())
        try:
            if await session.handshake():
                self._ready.set()
                self._become("running")
                await session.listen()
        except msgspec.DecodeError:
            log.exception("the writer said something that is not of the protocol")
        finally:
            self._ready.clear()
            self._become("restarting")
            session.end()
            if not self._stop.is_set():
                await session.close(STRAY_GRACE)
            await session.process.wait()
            await forwarding
            self._session = None
        return _why(session.process.returncode)

    def _become(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self._changed()


def _why(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _activity(pending: Pending) -> str:
    match pending.command:
        case ImportPath(name=name):
            return f"importing {name}"
        case ScanSources():
            return "scanning sources"
        case Compact() | Rollback():
            return "compacting the archive"
        case RemoveSource():
            return "removing a source"
        case Backup():
            return "making a backup"
    return ""
