"""ChatGPT's export: each conversation is a tree of nodes, of which one line is the one shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from twolaned.ingest.formats.common import ElementFormat, Item, span_of, string, title_of
from twolaned.ingest.text import clean, joined
from twolaned.ingest.times import to_ms
from twolaned.ingest.tree_walk import main_line
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.report import Skip

NAME = "chatgpt"

_TALK = ("text", "multimodal_text")
_KNOWN = frozenset(
    {
        *_TALK,
        "code",
        "execution_output",
        "tether_quote",
        "tether_browsing_display",
        "computer_output",
        "system_error",
        "sonic_webpage",
        "thoughts",
        "reasoning_recap",
        "user_editable_context",
        "model_editable_context",
        "app_pairing_content",
        "super_widget",
        "citable_code_output",
    }
)
"""Content types that are understood; those without words of person or model are left out."""

# No mark reaches over the next one's beginning, which keeps the search linear.
_ENTITY = re.compile("\ue200entity\ue202([^\ue200\ue201]*)\ue201")
_QUOTED = re.compile('"([^"]*)"')
_CITATION = re.compile(
    "\ue200(?:[^\ue200\ue201]*\ue201|[A-Za-z0-9_\ue202-]*)"
    "|[\ue000-\uf8ff]"
    "|【\\d{1,6}(?::\\d{1,6})?†[^【】\n]{0,200}】"
)
"""Marks; of one that is never closed only its own signs go, not the words behind it."""


def _recognises(value: dict[str, Any]) -> bool:
    return "mapping" in value


def _read(value: dict[str, Any], where: str) -> Iterator[Item]:
    mapping = value.get("mapping")
    nodes = {
        key: node
        for key, node in (mapping.items() if isinstance(mapping, dict) else ())
        if isinstance(node, dict)
    }
    row_id = string(value.get("conversation_id")) or string(value.get("id")) or _derived(nodes)
    parents = {key: string(node.get("parent")) or None for key, node in nodes.items()}
    times = {key: to_ms(_message(node).get("create_time")) for key, node in nodes.items()}
    line, cycle = main_line(parents, times, string(value.get("current_node")))
    if cycle:
        yield Skip("cycle", where)
    shown = set(line)
    messages: list[Message] = []
    attachments = 0
    for key in [*line, *(key for key in nodes if key not in shown)]:
        content = _message(nodes[key]).get("content")
        kind = string(content.get("content_type")) if isinstance(content, dict) else "text"
        if kind not in _KNOWN:
            yield Skip("unknown_block", where, detail=kind[:80] or "none")
            continue
        message, left_out = _read_message(key, nodes[key], times[key], on_main_line=key in shown)
        attachments += left_out
        if message is not None:
            messages.append(message)
    if not messages:
        yield Skip("empty_conversation", where)
        return
    title, title_from = title_of(value.get("title"), messages, TitleFrom.PROVIDER)
    first, last = span_of(messages)
    extra = {"attachments": str(attachments)} if attachments else {}
    gizmo = string(value.get("conversation_template_id")) or string(value.get("gizmo_id"))
    if gizmo.startswith("g-") and not gizmo.startswith("g-p-"):
        extra["custom_gpt"] = gizmo
    yield Conversation(
        id=f"{NAME}:{row_id}",
        provider=NAME,
        title=title,
        title_from=title_from,
        messages=tuple(messages),
        project=gizmo if gizmo.startswith("g-p-") else None,
        created_at=to_ms(value.get("create_time")) or first,
        updated_at=to_ms(value.get("update_time")) or last,
        extra=extra,
    )


def _message(node: dict[str, Any]) -> dict[str, Any]:
    message = node.get("message")
    return message if isinstance(message, dict) else {}


def _read_message(
    key: str, node: dict[str, Any], at: int | None, *, on_main_line: bool
) -> tuple[Message | None, int]:
    """The words of a node, and how many attachments without words it has."""
    message = _message(node)
    content, author = message.get("content"), message.get("author")
    if not isinstance(content, dict) or not isinstance(author, dict):
        return None, 0
    role = _role_of(author.get("role"), message)
    if role is None or content.get("content_type") not in _TALK or _is_hidden(message):
        return None, 0
    parts, left_out = _parts(content.get("parts"))
    text = _without_marks(joined(parts))
    if not text:
        return None, left_out
    return (
        Message(
            role=role,
            kind=MessageKind.HUMAN if role is Role.USER else MessageKind.ASSISTANT,
            text=text,
            native_id=string(message.get("id")) or key,
            at=at,
            on_main_line=on_main_line,
        ),
        left_out,
    )


def _role_of(name: Any, message: dict[str, Any]) -> Role | None:
    if name == "user":
        return Role.USER
    if name == "assistant" and message.get("recipient") in (None, "", "all"):
        return Role.ASSISTANT
    return None


def _is_hidden(message: dict[str, Any]) -> bool:
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    return bool(hidden) or message.get("weight") == 0


def _parts(value: Any) -> tuple[list[str], int]:
    found: list[str] = []
    left_out = 0
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            found.append(part["text"])
        elif isinstance(part, dict) and "audio" not in string(part.get("content_type")):
            left_out += 1
    return found, left_out


def _without_marks(text: str) -> str:
    if text.isascii():
        return text
    return clean(_CITATION.sub("", _ENTITY.sub(_entity_name, text))).strip()


def _entity_name(mark: re.Match[str]) -> str:
    """What people call the entity: the second of the words that its mark lists."""
    words = _QUOTED.findall(mark[1])
    return words[1] if len(words) > 1 else ""


def _derived(nodes: dict[str, dict[str, Any]]) -> str:
    """An id for a conversation that has none: the same for every export of it."""
    first = next(iter(nodes), "")
    return hashlib.sha256(first.encode("utf-8", "replace")).hexdigest()[:32]


FORMAT = ElementFormat(NAME, _recognises, _read)
