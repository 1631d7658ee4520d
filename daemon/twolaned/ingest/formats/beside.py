"""What exports hold beside conversations: known, and left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twolaned.ingest.formats.common import ElementFormat, Item
from twolaned.model.report import Skip

NAME = "beside"

_KEYS: tuple[frozenset[str], ...] = (
    frozenset({"uuid", "full_name", "email_address"}),  # Claude.ai: accounts
    frozenset({"conversations_memory"}),  # Claude.ai: what it remembers
    frozenset({"project_memories"}),
    frozenset({"uuid", "name", "created_at", "account"}),  # Claude.ai: lists of conversations
    frozenset({"id", "email"}),  # ChatGPT: the account
    frozenset({"conversation_id", "rating"}),  # ChatGPT: feedback
    frozenset({"conversation_id", "is_anonymous"}),  # ChatGPT: what was shared
    frozenset({"version", "entries"}),  # Claude Code: its index of sessions
)
"""Keys that an object has, all of a row together, where it is none of a conversation's."""


def _recognises(value: dict[str, Any]) -> bool:
    return any(keys <= value.keys() for keys in _KEYS) or _names_assets(value)


def _names_assets(value: dict[str, Any]) -> bool:
    """Whether *value* is ChatGPT's list of what uploaded files were called."""
    return bool(value) and all(
        key.startswith(("file-", "file_")) and isinstance(name, str) for key, name in value.items()
    )


def _read(_: dict[str, Any], where: str) -> Iterator[Item]:
    yield Skip("not_conversations", where)


FORMAT = ElementFormat(NAME, _recognises, _read)
