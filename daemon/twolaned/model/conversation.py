"""What an importer hands over: one conversation and its messages, in the source's own words."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """Who a message belongs to, as the source says it."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class MessageKind(StrEnum):
    """What a message is, which decides whether and how it is searched."""

    HUMAN = "human"
    """Words that the person typed or said."""
    ASSISTANT = "assistant"
    """Words that the model addressed to the person."""
    ATTACHMENT = "attachment"
    """Pasted or uploaded text, artifacts, canvases, what a subagent reported."""
    SUMMARY = "summary"
    """A compaction summary or a recap; it repeats earlier words."""
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    THINKING = "thinking"
    INJECTED = "injected"
    """System prompts, reminders, environment dumps: never the person's words."""


class TitleFrom(StrEnum):
    """Where a conversation's title comes from, best first."""

    PROVIDER = "provider"
    CUSTOM_TITLE = "custom-title"
    AI_TITLE = "ai-title"
    SUMMARY = "summary"
    FIRST_HUMAN_LINE = "first human line"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message.

    *at* is UTC milliseconds since the epoch, or None where the source does not say. A message that
    the person abandoned (an edited prompt, a regenerated answer) has *on_main_line* False.
    """

    role: Role
    kind: MessageKind
    text: str
    native_id: str | None = None
    at: int | None = None
    on_main_line: bool = True
    speaker: str | None = None
    """A name other than the role, such as a file's name for an attachment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of one source. Times are UTC milliseconds; None means unknown.

    *id* carries the provider's prefix, is never cut and never holds a path. *messages* stand in
    reading order, those off the main line included.
    """

    id: str
    provider: str
    title: str
    title_from: TitleFrom
    messages: tuple[Message, ...]
    project: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    created_at: int | None = None
    updated_at: int | None = None
    parent: str | None = None
    """The id of the conversation that started this one (a subagent's parent)."""
    forked_from: str | None = None
    children: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)
    """Facts of one provider only, such as ``custom_gpt`` or ``attachments``."""

    @property
    def source(self) -> str:
        """The provider, which is what ``source:`` filters name."""
        return self.provider

    def main_line(self) -> tuple[Message, ...]:
        """The messages a person reads: human and assistant words on the main line."""
        return tuple(
            m
            for m in self.messages
            if m.on_main_line and m.kind in (MessageKind.HUMAN, MessageKind.ASSISTANT)
        )
