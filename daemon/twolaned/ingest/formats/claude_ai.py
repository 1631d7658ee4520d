"""Claude.ai's export: conversations as flat lists of messages, and projects with documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twolaned.ingest.formats.common import ElementFormat, Item, span_of, string, texts, title_of
from twolaned.ingest.text import clean, joined
from twolaned.ingest.times import to_ms
from twolaned.ingest.tree_walk import main_line
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.document import Document
from twolaned.model.report import Skip

NAME = "claude-ai"
PROJECT_ROOT = "claude-ai-doc"
"""The root of documents that belong to a project on Claude.ai and lie in no folder."""

_SAID = ("text", "voice_note")
_UNSAID = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "token_budget",
        "flag",
        "injected_prompt_block",
        "server_tool_use",
        "image",
    }
)
"""Blocks that hold no words of person or model."""
_ARTIFACTS = "artifacts"


def _recognises(value: dict[str, Any]) -> bool:
    return "chat_messages" in value


def _read(value: dict[str, Any], where: str) -> Iterator[Item]:
    listed = texts(value.get("chat_messages"))
    shown, cycle = _shown(listed, string(value.get("current_leaf_message_uuid")))
    if cycle:
        yield Skip("cycle", where)
    messages: list[Message] = []
    attachments = 0
    for number, item in enumerate(listed):
        for block in texts(item.get("content")):
            kind = string(block.get("type"))
            if kind not in _SAID and kind not in _UNSAID:
                yield Skip("unknown_block", where, detail=clean(kind)[:80] or "none")
        messages += _messages(item, on_main_line=shown is None or number in shown)
        attachments += len(texts(item.get("attachments"))) + len(texts(item.get("files")))
    messages.sort(key=lambda message: not message.on_main_line)
    row_id = string(value.get("uuid"))
    if not messages or not row_id:
        yield Skip("empty_conversation" if row_id else "bad_conversation", where)
        return
    title, title_from = title_of(value.get("name"), messages, TitleFrom.PROVIDER)
    first, last = span_of(messages)
    yield Conversation(
        id=f"{NAME}:{row_id}",
        provider=NAME,
        title=title,
        title_from=title_from,
        messages=tuple(messages),
        created_at=to_ms(value.get("created_at")) or first,
        updated_at=to_ms(value.get("updated_at")) or last,
        extra={"attachments": str(attachments)} if attachments else {},
    )


def _shown(listed: list[dict[str, Any]], current: str) -> tuple[set[int] | None, bool]:
    """Which messages are on the main line, None where the export knows no branches; and whether
    the messages run in a circle.
    """
    if not any(string(item.get("parent_message_uuid")) for item in listed):
        return None, False
    keys = [string(item.get("uuid")) or f"#{number}" for number, item in enumerate(listed)]
    parents: dict[str, str | None] = {}
    times: dict[str, int | None] = {}
    for key, item in zip(keys, listed, strict=True):
        parents.setdefault(key, string(item.get("parent_message_uuid")) or None)
        times.setdefault(key, to_ms(item.get("created_at")))
    line, cycle = main_line(parents, times, current)
    on_line = set(line)
    return {number for number, key in enumerate(keys) if key in on_line}, cycle


def _messages(item: dict[str, Any], *, on_main_line: bool) -> Iterator[Message]:
    """What a message says, then what is attached to it."""
    human = item.get("sender") == "human"
    role = Role.USER if human else Role.ASSISTANT
    kind = MessageKind.HUMAN if human else MessageKind.ASSISTANT
    native_id = string(item.get("uuid")) or None
    at = to_ms(item.get("created_at"))
    blocks = texts(item.get("content"))
    said = [string(block.get("text")) for block in blocks if block.get("type") in _SAID]
    text = joined(said) or joined([string(item.get("text"))])
    pasted = [
        (string(attached.get("file_name")), joined([string(attached.get("extracted_content"))]))
        for attached in texts(item.get("attachments"))
    ]
    pasted = [(name, words) for name, words in pasted if words]
    if not text and human and pasted:
        # A long paste becomes an attachment, and is then all that the person said.
        text, pasted = joined([words for _, words in pasted]), []
    if text:
        yield Message(
            role=role, kind=kind, text=text, native_id=native_id, at=at, on_main_line=on_main_line
        )
    for name, words in [*pasted, *_artifacts(blocks)]:
        yield Message(
            role=role,
            kind=MessageKind.ATTACHMENT,
            text=words,
            native_id=native_id,
            at=at,
            on_main_line=on_main_line,
            speaker=clean(name)[:200] or None,
        )


def _artifacts(blocks: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        given = block.get("input")
        if block.get("name") == _ARTIFACTS and isinstance(given, dict):
            words = joined([string(given.get("content")) or string(given.get("new_str"))])
            if words:
                yield string(given.get("title")) or string(given.get("id")), words


def _is_project(value: dict[str, Any]) -> bool:
    return isinstance(value.get("docs"), list) and "uuid" in value and "name" in value


def _read_project(value: dict[str, Any], where: str) -> Iterator[Item]:
    for doc in texts(value.get("docs")):
        words = joined([string(doc.get("content"))])
        doc_id = string(doc.get("uuid"))
        if not words or not doc_id:
            yield Skip("empty_document", where)
            continue
        name = clean(string(doc.get("filename"))).strip() or doc_id
        yield Document(
            root=PROJECT_ROOT,
            path=doc_id,
            title=name,
            text=words,
            source=NAME,
            project=clean(string(value.get("name"))).strip() or None,
            modified_at=to_ms(doc.get("created_at")),
            syntax="markdown" if name.lower().endswith((".md", ".markdown")) else "text",
        )


FORMAT = ElementFormat(NAME, _recognises, _read)
PROJECTS = ElementFormat("claude-ai-projects", _is_project, _read_project)
