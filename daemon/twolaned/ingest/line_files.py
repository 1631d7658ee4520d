"""Reading files of JSON lines: agent sessions, and our own export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twolaned.ingest.archived import archived_row, is_export_line
from twolaned.ingest.formats import claude_code, codex
from twolaned.ingest.formats.claude_code import Session
from twolaned.ingest.formats.codex import Rollout
from twolaned.ingest.formats.common import Item
from twolaned.ingest.json_lines import read_lines
from twolaned.ingest.json_stream import decode
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.streams import Readable
from twolaned.ingest.text import clean
from twolaned.ingest.tree import Entry, Tree
from twolaned.model.errors import InvalidInput
from twolaned.model.report import Skip

PATIENCE = 200
"""Records that are looked at before a file counts as unknown."""
PAUSE = 512
"""Lines between two pauses."""

_SUBAGENTS = "subagents"
_AGENT = "agent-"
_THREAD_INDEX = "session_index.jsonl"


class LineFiles:
    """Reads the line files of *tree*, subagents' together with the session they belong to."""

    def __init__(self, tree: Tree, limits: IngestLimits) -> None:
        self._tree = tree
        self._limits = limits
        self._agents: dict[str, list[Entry]] = {}
        for entry in tree.entries:
            folder, _, name = entry.name.rpartition("/")
            if name.startswith(_AGENT):
                self._agents.setdefault(folder, []).append(entry)
        self._beside: dict[str, dict[str, list[Entry]]] = {}
        self._owned: dict[str, set[str]] = {}
        self._names: dict[str, str] | None = None

    def read(self, entry: Entry, stream: Readable) -> Iterator[Item | None]:
        """What the file *entry*, open as *stream*, holds; None as a pause."""
        if self._belongs_to_another(entry):
            return
        records = self._records(entry, stream)
        waiting: list[dict[str, Any]] = []
        held: list[Skip] = []
        for record in records:
            if record is None:
                yield None
            elif isinstance(record, Skip):
                held.append(record)
                if len(held) > max(PATIENCE, 10 * len(waiting)):
                    break
            elif is_export_line(record):
                yield from self._export(entry)
                return
            else:
                waiting.append(record)
                if claude_code.recognises(record):
                    yield from held
                    yield from self._session(entry, waiting, records)
                    return
                if codex.recognises(record):
                    yield from held
                    yield from self._rollout(entry, waiting, records)
                    return
                if codex.is_index(record) or codex.is_prompt(record):
                    yield Skip("no_conversations", entry.name)
                    return
                if len(waiting) >= PATIENCE:
                    break
        if len(held) > len(waiting) and not entry.name.lower().endswith(".jsonl"):
            yield Skip("not_conversations", entry.name, size=entry.size)
            return
        yield from held
        yield Skip("unknown_schema", entry.name, len(waiting) or 1)

    def _session(
        self,
        entry: Entry,
        first: list[dict[str, Any]],
        rest: Iterator[dict[str, Any] | Skip | None],
    ) -> Iterator[Item | None]:
        session = Session(entry.stem, entry.name)
        for record in first:
            session.take(record)
        for item in rest:
            if isinstance(item, dict):
                session.take(item)
            else:
                yield item
        if not session.is_agent:
            for child in self._agents_of(entry):
                agent = Session(child.stem, child.name)
                with child.open() as stream:
                    for item in self._records(child, stream):
                        if isinstance(item, dict):
                            agent.take(item)
                        else:
                            yield item
                session.take_agent(agent)
        yield from session.items()

    def _rollout(
        self,
        entry: Entry,
        first: list[dict[str, Any]],
        rest: Iterator[dict[str, Any] | Skip | None],
    ) -> Iterator[Item | None]:
        rollout = Rollout(entry.stem, entry.name)
        for record in first:
            rollout.take(record)
        for item in rest:
            if isinstance(item, dict):
                rollout.take(item)
            else:
                yield item
        named = self._thread_names().get(rollout.own_id, "")
        rollout.thread_name = named or rollout.thread_name
        yield from rollout.items()

    def _thread_names(self) -> dict[str, str]:
        """What the index of threads in the tree calls them; its last word counts."""
        if self._names is None:
            self._names = {}
            for entry in self._tree.entries:
                if entry.name.rpartition("/")[2] != _THREAD_INDEX:
                    continue
                with entry.open() as stream:
                    for item in self._records(entry, stream):
                        if isinstance(item, dict) and codex.is_index(item):
                            self._names[str(item["id"])] = clean(str(item["thread_name"])).strip()
        return self._names

    def _export(self, entry: Entry) -> Iterator[Item | None]:
        with entry.open() as stream:
            for number, line in enumerate(read_lines(stream, self._limits.max_element_bytes)):
                if number % PAUSE == 0:
                    yield None
                if line.data is None:
                    yield Skip("line_too_long", f"{entry.name}:{line.number}")
                elif line.data.strip():
                    try:
                        yield archived_row(line.data)
                    except InvalidInput:
                        yield Skip("bad_line", f"{entry.name}:{line.number}")

    def _records(self, entry: Entry, stream: Readable) -> Iterator[dict[str, Any] | Skip | None]:
        for count, line in enumerate(read_lines(stream, self._limits.max_line_bytes)):
            if count % PAUSE == 0:
                yield None
            place = f"{entry.name}:{line.number}"
            if line.data is None:
                yield Skip("line_too_long", place, size=self._limits.max_line_bytes)
                continue
            data = line.data.strip(b" \t\r")
            if not data:
                continue
            try:
                value = decode(data)
            except (ValueError, RecursionError):
                yield Skip("bad_line" if line.ended else "pending_line", place, size=len(data))
                continue
            if not isinstance(value, dict):
                yield Skip("bad_line", place, size=len(data))
                continue
            if not _is_utf8(data):
                yield Skip("bad_utf8", place)
            yield value

    def _belongs_to_another(self, entry: Entry) -> bool:
        """Whether *entry* is a subagent's file whose session is in the tree too."""
        folder, _, name = entry.name.rpartition("/")
        if not name.startswith(_AGENT):
            return False
        parts = folder.split("/")
        if _SUBAGENTS in parts:
            return "/".join(parts[: parts.index(_SUBAGENTS)]) + ".jsonl" in self._tree.by_name
        self._agents_beside(folder)
        return entry.name in self._owned[folder]

    def _agents_of(self, entry: Entry) -> list[Entry]:
        """The files of the subagents that the session *entry* started."""
        folder, _, _ = entry.name.rpartition("/")
        stem = entry.name.removesuffix(".jsonl")
        below = self._tree.below(f"{stem}/{_SUBAGENTS}")
        own = [child for child in below if child.stem.startswith(_AGENT)]
        return own + self._agents_beside(folder).get(entry.stem, [])

    def _agents_beside(self, folder: str) -> dict[str, list[Entry]]:
        """Subagents' files in *folder* by the session there that they name."""
        if folder not in self._beside:
            prefix = f"{folder}/" if folder else ""
            found: dict[str, list[Entry]] = {}
            for entry in self._agents.get(folder, ()):
                session = self._session_named_in(entry)
                if f"{prefix}{session}.jsonl" in self._tree.by_name:
                    found.setdefault(session, []).append(entry)
            self._beside[folder] = found
            self._owned[folder] = {entry.name for own in found.values() for entry in own}
        return self._beside[folder]

    def _session_named_in(self, entry: Entry) -> str:
        with entry.open() as stream:
            for item in self._records(entry, stream):
                if isinstance(item, dict):
                    return str(item.get("sessionId") or "")
        return ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
