"""Claude Code's session files: one record a line, appended as the session goes on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from twolaned.ingest.formats.claude_code_words import LINE_TYPES, said
from twolaned.ingest.formats.common import Item, first_human_line, string, texts
from twolaned.ingest.text import clean, joined
from twolaned.ingest.times import to_ms
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.report import Skip

NAME = "claude-code"

_SESSION_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_AGENT = "agent-"
_OWN_TYPES = frozenset({"summary", "custom-title", "ai-title", "queue-operation", "last-prompt"})


def recognises(record: dict[str, Any]) -> bool:
    """Whether *record* is a line of a session."""
    kind = record.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("user", "assistant", "system", "progress", "attachment"):
        return "sessionId" in record
    if kind == "summary":
        return "leafUuid" in record
    return kind == "file-history-snapshot" or (kind in _OWN_TYPES and "sessionId" in record)


@dataclass(slots=True)
class _Said:
    """One message and its place in the tree of records."""

    message: Message
    uuid: str
    sidechain: bool


@dataclass(slots=True)
class Session:
    """Gathers the records of one session file. *stem* is the file's name without its ending."""

    stem: str
    where: str
    session_id: str = ""
    agent_id: str = ""
    cwd: str = ""
    git_branch: str = ""
    forked_from: str = ""
    custom_title: str = ""
    ai_title: str = ""
    summaries: dict[str, str] = field(default_factory=dict)
    said: list[_Said] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None
    agents: dict[str, list[Message]] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _at: int | None = None
    """The time of the record in hand."""

    @property
    def is_agent(self) -> bool:
        """Whether this is a subagent's file."""
        return self.stem.startswith(_AGENT)

    def take(self, record: dict[str, Any]) -> None:
        """Take one record."""
        kind = record.get("type")
        if not isinstance(kind, str):
            self.counts["bad_record", ""] += 1
            return
        if kind not in LINE_TYPES:
            self.counts["unknown_line", clean(kind)[:80]] += 1
            return
        uuid = string(record.get("uuid"))
        if uuid:
            if uuid in self.parents:
                self.counts["duplicate", ""] += 1
                return
            parent = string(record.get("parentUuid")) or string(record.get("logicalParentUuid"))
            self.parents[uuid] = parent
        self._note_facts(record)
        match kind:
            case "user":
                self._take_user(record, uuid)
            case "assistant":
                self._take_assistant(record, uuid)
            case "attachment":
                self._take_attachment(record, uuid)
            case "custom-title":
                self.custom_title = string(record.get("customTitle")) or self.custom_title
            case "ai-title":
                self.ai_title = string(record.get("aiTitle")) or self.ai_title
            case "summary":
                self.summaries[string(record.get("leafUuid"))] = string(record.get("summary"))

    def take_agent(self, agent: Session) -> None:
        """Take what a subagent said: findable with this session, and not the person's words."""
        name = agent.stem if agent.is_agent else f"{_AGENT}{agent.agent_id}"
        self.agents[name] = [
            replace(one.message, kind=MessageKind.ATTACHMENT, speaker=name)
            for one in agent.said
            if one.message.kind is MessageKind.ASSISTANT
        ]

    def items(self) -> Iterator[Item]:
        """The conversation and what was skipped of it."""
        for (reason, detail), count in self.counts.items():
            yield Skip(reason, self.where, count, detail=detail)
        messages = self._messages()
        if not any(m.kind in (MessageKind.HUMAN, MessageKind.ASSISTANT) for m in messages):
            yield Skip("empty_conversation", self.where)
            return
        yield self._conversation(messages)

    def _conversation(self, messages: list[Message]) -> Conversation:
        own_id = self._id()
        title, title_from = self._title(messages)
        forked = f"{NAME}:{self.forked_from}" if self.forked_from else None
        return Conversation(
            id=own_id,
            provider=NAME,
            title=title,
            title_from=title_from,
            messages=tuple(messages),
            project=PurePosixPath(self.cwd.replace("\\", "/")).name or None,
            cwd=self.cwd or None,
            git_branch=self.git_branch or None,
            created_at=self.first,
            updated_at=self.last,
            parent=f"{NAME}:{self.session_id}" if self.is_agent and self.session_id else None,
            forked_from=forked if forked != own_id else None,
            children=tuple(f"{own_id}/{name}" for name in self.agents),
        )

    def _id(self) -> str:
        if self.is_agent:
            parent = self.session_id or "unknown"
            return f"{NAME}:{parent}/{self.stem}"
        stem = self.stem.lower()
        return f"{NAME}:{stem if _SESSION_ID.fullmatch(stem) else self.session_id or self.stem}"

    def _title(self, messages: list[Message]) -> tuple[str, TitleFrom]:
        own = [text for leaf, text in self.summaries.items() if leaf in self.parents]
        candidates = (
            (self.custom_title, TitleFrom.CUSTOM_TITLE),
            (self.ai_title, TitleFrom.AI_TITLE),
            (own[-1] if own else "", TitleFrom.SUMMARY),
        )
        for text, source in candidates:
            if text.strip():
                return clean(text).strip(), source
        return first_human_line(messages)

    def _messages(self) -> list[Message]:
        off = self._off_branch()
        main, abandoned = [], []
        for one in self.said:
            if one.sidechain and not self.is_agent:
                continue
            if one.uuid in off:
                abandoned.append(replace(one.message, on_main_line=False))
            else:
                main.append(one.message)
        # Older files hold what subagents said in lines of their own.
        beside = [
            replace(one.message, kind=MessageKind.ATTACHMENT, speaker="agent")
            for one in self.said
            if one.sidechain and not self.is_agent and one.message.kind is MessageKind.ASSISTANT
        ]
        of_agents = [message for found in self.agents.values() for message in found]
        return [*main, *beside, *of_agents, *abandoned]

    def _off_branch(self) -> set[str]:
        """Records on branches that the person left by asking something else in their place.

        Only people branch: parallel tool calls and answers in several lines fork all the time.
        """
        latest: dict[str, str] = {}
        left: set[str] = set()
        for one in self.said:
            parent = self.parents.get(one.uuid, "")
            if one.message.kind is MessageKind.HUMAN and not one.sidechain and parent:
                if parent in latest:
                    left.add(latest[parent])
                latest[parent] = one.uuid
        if not left:
            return left
        off: dict[str, bool] = {}
        for uuid in self.parents:
            path = []
            at = uuid
            while at in self.parents and at not in off and at not in left:
                off[at] = False
                path.append(at)
                at = self.parents[at]
            if at in left or off.get(at, False):
                off.update(dict.fromkeys(path, True))
        return left | {uuid for uuid, is_off in off.items() if is_off}

    def _note_facts(self, record: dict[str, Any]) -> None:
        self.cwd = self.cwd or clean(string(record.get("cwd")))
        self.git_branch = self.git_branch or string(record.get("gitBranch"))
        self.session_id = self.session_id or string(record.get("sessionId"))
        self.agent_id = self.agent_id or string(record.get("agentId"))
        forked = record.get("forkedFrom")
        if isinstance(forked, dict):
            self.forked_from = self.forked_from or string(forked.get("sessionId"))
        at = self._at = to_ms(record.get("timestamp"))
        if at is not None:
            self.first = at if self.first is None else min(self.first, at)
            self.last = at if self.last is None else max(self.last, at)

    def _take_user(self, record: dict[str, Any], uuid: str) -> None:
        content = self._content(record)
        if record.get("isMeta") or record.get("isCompactSummary") or content is None:
            return
        words = [content] if isinstance(content, str) else _texts_of(content)
        text = joined([said(part) for part in words])
        if text and not (record.get("isSidechain") or self.is_agent):
            self._say(record, uuid, Role.USER, MessageKind.HUMAN, text)

    def _take_assistant(self, record: dict[str, Any], uuid: str) -> None:
        content = self._content(record)
        message = record.get("message")
        made_up = isinstance(message, dict) and message.get("model") == "<synthetic>"
        if content is None or made_up or record.get("isApiErrorMessage"):
            return
        text = joined([content] if isinstance(content, str) else _texts_of(content))
        if text:
            self._say(record, uuid, Role.ASSISTANT, MessageKind.ASSISTANT, text)

    def _take_attachment(self, record: dict[str, Any], uuid: str) -> None:
        attached = record.get("attachment")
        if not isinstance(attached, dict) or attached.get("type") != "queued_command":
            return
        if attached.get("commandMode") not in (None, "prompt"):
            return
        prompt = attached.get("prompt")
        text = joined(
            [said(part) for part in ([prompt] if isinstance(prompt, str) else _texts_of(prompt))]
        )
        if text and not self.is_agent:
            self._say(record, uuid, Role.USER, MessageKind.HUMAN, text)

    def _content(self, record: dict[str, Any]) -> str | list[Any] | None:
        message = record.get("message")
        if not isinstance(message, dict):
            self.counts["bad_record", ""] += 1
            return None
        content = message.get("content")
        return content if isinstance(content, str | list) else None

    def _say(
        self, record: dict[str, Any], uuid: str, role: Role, kind: MessageKind, text: str
    ) -> None:
        message = Message(
            role=role,
            kind=kind,
            text=text,
            native_id=uuid or None,
            at=self._at,
        )
        sidechain = bool(record.get("isSidechain"))
        self.said.append(_Said(message, uuid, sidechain))


def _texts_of(content: Any) -> list[str]:
    return [string(block.get("text")) for block in texts(content) if block.get("type") == "text"]
