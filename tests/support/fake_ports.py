"""Stand-ins for what the services need from the process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from twolaned.model.errors import TwolaneError
from twolaned.model.report import ImportReport
from twolaned.services.ports import Command
from twolaned.writer.protocol import Done, ImportPath, Progress


class FakeWriter:
    """Answers every command with *done*, or fails with *error*; keeps what it was given.

    With *endless*, progress comes until the caller leaves, which sets `left`.
    """

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.done: Done | None = None
        self.error: TwolaneError | None = None
        self.progress: list[Progress] = []
        self.endless = False
        self.left = asyncio.Event()
        self.uploaded: bytes | None = None
        self.upload_path: Path | None = None

    async def call(self, command: Command) -> Done:
        self.commands.append(command)
        if self.error is not None:
            raise self.error
        assert self.done is not None
        return self.done

    async def stream(self, command: Command) -> AsyncGenerator[Progress | Done, None]:
        if isinstance(command, ImportPath) and command.spooled:
            self.upload_path = Path(command.path)
            self.uploaded = self.upload_path.read_bytes()
        try:
            for progress in self.progress:
                yield progress
            while self.endless:
                yield Progress(ImportReport(provider="endless"))
                await asyncio.sleep(0)
            yield await self.call(command)
        finally:
            self.left.set()
