"""A real writer process, spoken to over its pipes, and made-up exports to feed it."""

from __future__ import annotations

import contextlib
import json
import struct
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

from twolaned.writer.protocol import (
    AddSource,
    Cancel,
    Done,
    Event,
    Failed,
    ImportPath,
    Ready,
    RemoveSource,
    Request,
    Save,
    ScanSources,
    frame,
)

Command = Save | ImportPath | AddSource | RemoveSource | ScanSources | Cancel

WORDS = (
    "ferry harbour queue retry ledger invoice tide anchor berth cargo manifest signal beacon"
    " pilot mooring timetable booking refund passenger deck engine schema index cache token"
).split()


class WriterProcess:
    """Starts `python -m twolaned.writer` on *data* and reads its events."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "twolaned.writer", "--data", str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0
        first = self.next_event()
        assert first is not None, "the writer did not start"
        assert isinstance(first.body, Ready)
        self.generation = first.body.generation

    def send(self, command: Command) -> int:
        """Send *command* and return its request's number."""
        assert self.process.stdin is not None
        self._number += 1
        self.process.stdin.write(frame(Request(self._number, command)))
        self.process.stdin.flush()
        return self._number

    def next_event(self) -> Event | None:
        """The next event, or None when the writer has ended."""
        assert self.process.stdout is not None
        head = self.process.stdout.read(4)
        if len(head) < 4:
            return None
        (length,) = struct.unpack("<I", head)
        body = self.process.stdout.read(length)
        return msgspec.msgpack.decode(body, type=Event) if len(body) == length else None

    def events(self) -> Iterator[Event]:
        """All events until the writer ends."""
        while (event := self.next_event()) is not None:
            yield event

    def call(self, command: Command) -> Done | Failed:
        """Send *command* and wait for its end."""
        number = self.send(command)
        for event in self.events():
            if event.request == number and isinstance(event.body, Done | Failed):
                return event.body
        raise AssertionError("the writer ended before it answered")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.close()

    def close(self) -> int:
        """Close its input and wait for it to end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait()


def sentence(random: Random, words: int = 14) -> str:
    """A made-up sentence."""
    return " ".join(random.choice(WORDS) for _ in range(words)).capitalize() + "."


def conversation(random: Random, *, turns: int = 4, marker: str = "") -> dict[str, object]:
    """One conversation in the shape of a Claude.ai export."""
    messages = []
    for turn in range(turns):
        text = " ".join(sentence(random) for _ in range(random.randint(1, 8)))
        messages.append(
            {
                "uuid": str(uuid.UUID(int=random.getrandbits(128))),
                "sender": "human" if turn % 2 == 0 else "assistant",
                "text": text,
                "content": [{"type": "text", "text": f"{text} {marker}".strip()}],
                "created_at": f"2026-03-10T09:{turn:02d}:00.000000Z",
                "attachments": [],
                "files": [],
            }
        )
    return {
        "uuid": str(uuid.UUID(int=random.getrandbits(128))),
        "name": sentence(random, 4),
        "created_at": "2026-03-10T09:00:00.000000Z",
        "updated_at": "2026-03-10T09:59:00.000000Z",
        "chat_messages": messages,
    }


def write_export(path: Path, conversations: list[dict[str, object]]) -> Path:
    """Write *conversations* as an export file."""
    path.write_text(json.dumps(conversations), encoding="utf-8")
    return path
