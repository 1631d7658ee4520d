"""Aider's chat history: one Markdown file a repository, in which each run begins with a header.

Lines that begin with ``#### `` are what the person typed, those that begin with ``> `` are what the
tool printed, all others are the model's. Inside a code fence both are part of the answer.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from twolaned.ingest.formats.common import Item, first_human_line
from twolaned.ingest.json_lines import read_lines
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.place import Place
from twolaned.ingest.streams import Readable
from twolaned.ingest.text import clean, joined
from twolaned.model.conversation import Conversation, Message, MessageKind, Role
from twolaned.model.report import Skip

NAME = "aider"

_HEADER = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_HEADER_IN = re.compile(rb"(?:\A|\n)# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_PROMPT = re.compile(r"####(?: (.*)|)")
_PRINTED = re.compile(r">(?: |\Z)")
_STOPPED = re.compile(r"> \^C ")
"""What Aider prints when the person stops an answer, be it in the middle of a fence."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BLANK = "<blank>"
"""Stands for a prompt without words."""
_PAUSE = 512


def recognises(head: bytes) -> bool:
    """Whether a stream that begins with *head* holds the beginning of a run."""
    return _HEADER_IN.search(head) is not None


def read(place: Place, stream: Readable, limits: IngestLimits) -> Iterator[Item | None]:
    """The runs of one history; None as a pause. What stands before the first header is no run's."""
    where = place.entry.name
    folder = place.folder_name
    runs: Counter[str] = Counter()
    run: _Run | None = None
    for count, line in enumerate(read_lines(stream, limits.max_line_bytes)):
        if count % _PAUSE == 0:
            yield None
        if line.data is None:
            yield Skip("line_too_long", f"{where}:{line.number}", size=limits.max_line_bytes)
            continue
        text = line.data.decode("utf-8", "replace")
        header = _HEADER.fullmatch(text)
        if header is not None:
            if run is not None:
                yield from run.items()
            run = _Run(folder, header[1], runs[header[1]], where, limits.max_element_bytes)
            runs[header[1]] += 1
        elif run is not None:
            run.take(text)
    if run is not None:
        yield from run.items()


@dataclass(slots=True)
class _Run:
    """The lines behind one header; *number* counts the runs of the same second."""

    folder: str
    started: str
    number: int
    where: str
    limit: int
    lines: list[str] = field(default_factory=list)
    size: int = 0

    def take(self, line: str) -> None:
        self.size += len(line) + 1
        if self.size <= self.limit:
            self.lines.append(line)

    def items(self) -> Iterator[Item]:
        where = f"{self.where} {self.started}"
        if self.size > self.limit:
            yield Skip("conversation_too_large", where, size=self.size)
        messages = tuple(self._messages())
        if not messages:
            yield Skip("empty_conversation", where)
            return
        title, title_from = first_human_line(messages)
        named = f"{self.folder}\0{self.started}\0{self.number}"
        yield Conversation(
            id=f"{NAME}:{hashlib.sha256(named.encode('utf-8', 'replace')).hexdigest()[:16]}",
            provider=NAME,
            title=title,
            title_from=title_from,
            messages=messages,
            project=clean(self.folder) or None,
            extra={"started_local": self.started.replace(" ", "T")},
        )

    def _messages(self) -> Iterator[Message]:
        kind, said = MessageKind.ASSISTANT, list[str]()
        for of, line in self._sorted():
            if of is not kind:
                yield from _message(kind, said)
                kind, said = of, []
            said.append(line)
        yield from _message(kind, said)

    def _sorted(self) -> Iterator[tuple[MessageKind, str]]:
        """Each line with whose it is; what was printed becomes an empty line."""
        closers = _closers(self.lines)
        fence = ""
        for number, line in enumerate(self.lines):
            mark = _FENCE.fullmatch(line)
            if fence:
                if _STOPPED.match(line):
                    fence = ""
                    continue
                if mark and mark[1].startswith(fence) and not mark[2].strip():
                    fence = ""
                yield MessageKind.ASSISTANT, line
                continue
            prompt = _PROMPT.fullmatch(line.rstrip())
            if prompt is not None:
                yield MessageKind.HUMAN, "" if prompt[1] == _BLANK else prompt[1] or ""
            elif _PRINTED.match(line):
                yield MessageKind.ASSISTANT, ""
            else:
                # A fence that nothing closes is no fence.
                if mark and closers[number + 1].get(mark[1][0], 0) >= len(mark[1]):
                    fence = mark[1]
                yield MessageKind.ASSISTANT, line


def _closers(lines: list[str]) -> list[dict[str, int]]:
    """For each line the longest marks, of either sign, that may close a fence there or below."""
    found: list[dict[str, int]] = [{}]
    for line in reversed(lines):
        mark = _FENCE.fullmatch(line)
        if mark and not mark[2].strip():
            sign, length = mark[1][0], len(mark[1])
            if length > found[-1].get(sign, 0):
                found.append({**found[-1], sign: length})
                continue
        found.append(found[-1])
    found.reverse()
    return found


def _message(kind: MessageKind, said: list[str]) -> Iterator[Message]:
    human = kind is MessageKind.HUMAN
    # Aider ends each line of a prompt with two spaces, Markdown's sign for a line break.
    text = joined(["\n".join(line.rstrip() if human else line for line in said)])
    if text:
        yield Message(role=Role.USER if human else Role.ASSISTANT, kind=kind, text=text)
