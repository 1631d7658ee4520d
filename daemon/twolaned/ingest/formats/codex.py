"""Codex: rollout files, in which every turn may be written in two or three forms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from twolaned.ingest.formats.codex_words import asked
from twolaned.ingest.formats.common import (
    ElementFormat,
    Item,
    first_human_line,
    string,
    texts,
)
from twolaned.ingest.text import clean, joined
from twolaned.ingest.times import to_ms
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.report import Skip

NAME = "codex"

ENVELOPES = frozenset(
    """
    session_meta response_item event_msg turn_context compacted world_state
    inter_agent_communication inter_agent_communication_metadata
    """.split()
)
_BARE = frozenset(
    """
    message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
    local_shell_call web_search_call ghost_snapshot compaction
    """.split()
)
_SESSION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CWD = re.compile(r"<cwd>(.*?)</cwd>", re.DOTALL)


def recognises(record: dict[str, Any]) -> bool:
    """Whether *record* is a line of a rollout."""
    kind = record.get("type")
    if isinstance(kind, str) and kind in ENVELOPES:
        return isinstance(record.get("payload"), dict)
    is_head = "instructions" in record and "id" in record and "timestamp" in record
    return is_head or record.get("record_type") == "state"


@dataclass(slots=True)
class _Turn:
    """One message in one of its forms: ``item``, ``event`` or ``response``."""

    form: str
    message: Message
    twin: bool = False


@dataclass(slots=True)
class Rollout:
    """Gathers the records of one rollout. *stem* is the file's name without its ending."""

    stem: str
    where: str
    session_id: str = ""
    cwd: str = ""
    git_branch: str = ""
    forked_from: str = ""
    parent: str = ""
    thread_name: str = ""
    turns: list[_Turn] = field(default_factory=list)
    first: int | None = None
    last: int | None = None
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _off: set[int] = field(default_factory=set)
    _at: int | None = None

    def take(self, record: dict[str, Any]) -> None:
        """Take one record."""
        kind = string(record.get("type"))
        self._note_time(record)
        if kind not in ENVELOPES:
            if "instructions" in record or "git" in record:
                self._take_meta(record)
            elif kind in _BARE:
                self._take_response(record)
            elif record.get("record_type") != "state":
                self.counts["unknown_line", clean(str(kind))[:80]] += 1
            return
        payload = record.get("payload")
        if not isinstance(payload, dict):
            self.counts["bad_record", ""] += 1
            return
        match kind:
            case "session_meta":
                self._take_meta(payload)
            case "turn_context":
                self.cwd = self.cwd or clean(string(payload.get("cwd")))
            case "response_item":
                self._take_response(payload)
            case "event_msg":
                self._take_event(payload)

    def items(self) -> Iterator[Item]:
        """The conversation and what was skipped of it."""
        for (reason, detail), count in self.counts.items():
            yield Skip(reason, self.where, count, detail=detail)
        messages = self._messages()
        if not messages:
            yield Skip("empty_conversation", self.where)
            return
        title, title_from = (
            (self.thread_name, TitleFrom.PROVIDER)
            if self.thread_name
            else first_human_line(messages)
        )
        yield Conversation(
            id=f"{NAME}:{self.own_id}",
            provider=NAME,
            title=title,
            title_from=title_from,
            messages=tuple(messages),
            project=PurePosixPath(self.cwd.replace("\\", "/")).name or None,
            cwd=self.cwd or None,
            git_branch=self.git_branch or None,
            created_at=self.first,
            updated_at=self.last,
            parent=f"{NAME}:{self.parent}" if self.parent else None,
            forked_from=f"{NAME}:{self.forked_from}" if self.forked_from else None,
        )

    @property
    def own_id(self) -> str:
        """The first session id in the file, else the one in its name."""
        named = _SESSION_ID.search(self.stem)
        return self.session_id or (named[0] if named else self.stem)

    def _messages(self) -> list[Message]:
        humans = {t.form for t in self.turns if t.message.kind is MessageKind.HUMAN}
        trusted = next((form for form in ("item", "event", "response") if form in humans), "")
        main, off = [], []
        for number, turn in enumerate(self.turns):
            is_human = turn.message.kind is MessageKind.HUMAN
            if turn.twin or (is_human and turn.form != trusted):
                continue
            if number in self._off:
                off.append(replace(turn.message, on_main_line=False))
            else:
                main.append(turn.message)
        return [*main, *off]

    def _take_meta(self, meta: dict[str, Any]) -> None:
        if self.session_id:  # a fork repeats what its parent began with
            return
        self.session_id = string(meta.get("id")) or string(meta.get("session_id"))
        self.cwd = self.cwd or clean(string(meta.get("cwd")))
        git = meta.get("git")
        if isinstance(git, dict):
            self.git_branch = string(git.get("branch"))
        forked = string(meta.get("forked_from_id"))
        self.forked_from = forked if forked != self.session_id else ""
        source = meta.get("source")
        spawn = source.get("subagent") if isinstance(source, dict) else None
        spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
        if isinstance(spawn, dict):
            self.parent = string(spawn.get("parent_thread_id"))
        self.parent = self.parent or string(meta.get("parent_thread_id"))

    def _take_response(self, item: dict[str, Any]) -> None:
        if item.get("type") != "message":
            return
        blocks = [string(block.get("text")) for block in texts(item.get("content"))]
        if item.get("role") == "assistant":
            self._say("response", MessageKind.ASSISTANT, joined(blocks), item)
        elif item.get("role") == "user":
            for block in blocks:
                found = _CWD.search(block)
                self.cwd = self.cwd or (clean(found[1]).strip() if found else "")
            self._say("response", MessageKind.HUMAN, joined([asked(b) for b in blocks]), item)

    def _take_event(self, event: dict[str, Any]) -> None:
        kind, said = event.get("type"), string(event.get("message"))
        if kind == "user_message":
            self._say("event", MessageKind.HUMAN, joined([asked(said)]), event)
        elif kind == "agent_message":
            self._say("event", MessageKind.ASSISTANT, joined([said]), event)
        elif kind == "thread_name_updated":
            self.thread_name = clean(string(event.get("thread_name"))).strip() or self.thread_name
        elif kind == "thread_rolled_back":
            self._roll_back(event.get("num_turns"))
        elif kind == "item_completed" and isinstance(item := event.get("item"), dict):
            blocks = [string(block.get("text")) for block in texts(item.get("content"))]
            if item.get("type") == "UserMessage":
                self._say("item", MessageKind.HUMAN, joined([asked(b) for b in blocks]), item)
            elif item.get("type") == "AgentMessage":
                self._say("item", MessageKind.ASSISTANT, joined(blocks), item)

    def _say(self, form: str, kind: MessageKind, text: str, record: dict[str, Any]) -> None:
        if not text:
            return
        role = Role.USER if kind is MessageKind.HUMAN else Role.ASSISTANT
        message = Message(
            role=role, kind=kind, text=text, native_id=string(record.get("id")) or None, at=self._at
        )
        turn = _Turn(form, message)
        before = self.turns[-1] if self.turns else None
        if (
            before is not None
            and before.form != form
            and not before.twin
            and kind is not (MessageKind.HUMAN)
        ):
            turn.twin = before.message.kind is kind and before.message.text == text
        self.turns.append(turn)

    def _roll_back(self, count: Any) -> None:
        """The last *count* turns of the person, and all behind them, were taken back."""
        left = count if isinstance(count, int) else 0
        humans = {t.form for t in self.turns if t.message.kind is MessageKind.HUMAN}
        form = next((f for f in ("item", "event", "response") if f in humans), "")
        for number in range(len(self.turns) - 1, -1, -1):
            if left <= 0:
                return
            if number in self._off:
                continue
            self._off.add(number)
            turn = self.turns[number]
            if turn.message.kind is MessageKind.HUMAN and turn.form == form:
                left -= 1

    def _note_time(self, record: dict[str, Any]) -> None:
        at = self._at = to_ms(record.get("timestamp"))
        if at is not None:
            self.first = at if self.first is None else min(self.first, at)
            self.last = at if self.last is None else max(self.last, at)


def is_index(record: dict[str, Any]) -> bool:
    """Whether *record* is a line of the index that names threads."""
    return "thread_name" in record and "id" in record


def is_prompt(record: dict[str, Any]) -> bool:
    """Whether *record* is a line of the log of all prompts, which rollouts hold too."""
    return {"session_id", "ts", "text"} <= record.keys()


def _is_first_form(value: dict[str, Any]) -> bool:
    session = value.get("session")
    return isinstance(session, dict) and "id" in session and isinstance(value.get("items"), list)


def _read_first_form(value: dict[str, Any], where: str) -> Iterator[Item]:
    session = value["session"]
    rollout = Rollout(string(session.get("id")), where)
    rollout.take({"instructions": "", **session})
    for item in texts(value["items"]):
        rollout.take(item)
    yield from rollout.items()


FORMAT = ElementFormat(NAME, _is_first_form, _read_first_form)
"""The earliest rollouts: one JSON object a session."""
