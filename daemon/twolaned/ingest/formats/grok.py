"""Grok's export: each conversation beside the tree of its responses, both in wrappers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from twolaned.ingest.formats.common import ElementFormat, Item, span_of, string, texts, title_of
from twolaned.ingest.text import clean, joined
from twolaned.ingest.times import to_ms
from twolaned.ingest.tree_walk import main_line
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.report import Skip

NAME = "grok"

_ARTIFACT_OPEN = re.compile(r"<xaiArtifact\b([^<>]*)>", re.IGNORECASE)
_ARTIFACT_CLOSE = re.compile(r"</xaiArtifact\s*>", re.IGNORECASE)
_TITLE = re.compile(r"""\btitle\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_FILES = ("file_attachments", "image_attachments")
_PEOPLE = ("human", "user")
_NOBODY = ("system", "tool")


@dataclass(frozen=True, slots=True)
class _Response:
    """One response, the person's or the model's, under the key by which others name it."""

    key: str
    parent: str
    at: int | None
    value: dict[str, Any]


def _recognises(value: dict[str, Any]) -> bool:
    return isinstance(value.get("conversation"), dict) and "responses" in value


def _read(value: dict[str, Any], where: str) -> Iterator[Item]:
    facts = value["conversation"]
    responses = list(_responses(value["responses"]))
    row_id = string(facts.get("id")) or next(
        (i for r in responses if (i := string(r.value.get("conversation_id")))), ""
    )
    if not row_id:
        yield Skip("bad_conversation", where)
        return
    shown, cycle = _shown(responses, string(facts.get("leaf_response_id")))
    if cycle:
        yield Skip("cycle", where)
    messages: list[Message] = []
    attachments = 0
    for number, response in enumerate(responses):
        messages += _messages(response, on_main_line=shown is None or number in shown)
        attachments += sum(
            len(found) for name in _FILES if isinstance(found := response.value.get(name), list)
        )
    messages.sort(key=lambda message: not message.on_main_line)
    if not messages:
        yield Skip("empty_conversation", where)
        return
    title, title_from = title_of(facts.get("title"), messages, TitleFrom.PROVIDER)
    first, last = span_of(messages)
    yield Conversation(
        id=f"{NAME}:{row_id}",
        provider=NAME,
        title=title,
        title_from=title_from,
        messages=tuple(messages),
        created_at=to_ms(facts.get("create_time")) or first,
        updated_at=to_ms(facts.get("modify_time")) or last,
        extra={"attachments": str(attachments)} if attachments else {},
    )


def _responses(value: Any) -> Iterator[_Response]:
    """The responses in *value*; a wrapper around each is common and not needed."""
    for number, item in enumerate(texts(value)):
        inner = item.get("response", item)
        if not isinstance(inner, dict):
            continue
        own = string(inner.get("_id")) or string(inner.get("id")) or f"#{number}"
        yield _Response(
            own,
            string(inner.get("parent_response_id")),
            to_ms(inner.get("create_time")),
            inner,
        )


def _shown(responses: list[_Response], leaf: str) -> tuple[set[int] | None, bool]:
    """Which responses are on the main line, None where none names another; and whether they run
    in a circle.
    """
    if not any(response.parent for response in responses):
        return None, False
    parents: dict[str, str | None] = {}
    times: dict[str, int | None] = {}
    for response in responses:
        parents.setdefault(response.key, response.parent or None)
        times.setdefault(response.key, response.at)
    line, cycle = main_line(parents, times, leaf)
    on_line = set(line)
    return {n for n, response in enumerate(responses) if response.key in on_line}, cycle


def _messages(response: _Response, *, on_main_line: bool) -> Iterator[Message]:
    """What a response says, then the artifacts inside it."""
    sender = string(response.value.get("sender")).lower()
    if sender in _NOBODY:
        return
    human = sender in _PEOPLE
    role = Role.USER if human else Role.ASSISTANT
    said, artifacts = _apart(string(response.value.get("message")))
    native_id = None if response.key.startswith("#") else response.key
    if said:
        yield Message(
            role=role,
            kind=MessageKind.HUMAN if human else MessageKind.ASSISTANT,
            text=said,
            native_id=native_id,
            at=response.at,
            on_main_line=on_main_line,
        )
    for title, words in artifacts:
        yield Message(
            role=role,
            kind=MessageKind.ATTACHMENT,
            text=words,
            native_id=native_id,
            at=response.at,
            on_main_line=on_main_line,
            speaker=title or None,
        )


def _apart(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The words of a message, and the artifacts in it with their titles.

    One that is never closed reaches to the end: the answer was cut off there.
    """
    said: list[str] = []
    artifacts: list[tuple[str, str]] = []
    at = 0
    while (opening := _ARTIFACT_OPEN.search(text, at)) is not None:
        said.append(text[at : opening.start()])
        closing = _ARTIFACT_CLOSE.search(text, opening.end())
        words = joined([text[opening.end() : closing.start() if closing else len(text)]])
        if words:
            title = _TITLE.search(opening[1])
            named = (title[1] or title[2] or "") if title else ""
            artifacts.append((clean(named).strip()[:200], words))
        at = closing.end() if closing else len(text)
    said.append(text[at:])
    return joined(said) if artifacts else clean(text).strip(), artifacts


FORMAT = ElementFormat(NAME, _recognises, _read)
