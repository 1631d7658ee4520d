"""Knowing a message again wherever it turns up: in a fork, another export, a backup."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from twolaned.model.conversation import Message, MessageKind

TELLING = 40
"""Characters from which on a message says something of its own; below, many people wrote it."""
_COUNTED = 400
_SPACE = re.compile(r"\s+")
_MARKUP = re.compile("[\ue000-\uf8ff]+|【\\d+:\\d+†[^】]*】")
_TALK = (MessageKind.HUMAN, MessageKind.ASSISTANT)


def normal_form(text: str) -> str:
    """*text* without what exports and editors change: case, width, white space, citation marks."""
    plain = _MARKUP.sub("", text)
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", plain).casefold()).strip()


def message_hash(message: Message) -> int | None:
    """64 bits that equal messages share; None for what is not talk or has no words."""
    if message.kind not in _TALK:
        return None
    text = normal_form(message.text)
    if not text:
        return None
    data = f"{message.role}\0{text}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def weight(message: Message) -> int:
    """How much of its conversation *message* is: its characters, up to 400; 0 under 12."""
    size = len(message.text.strip())
    return min(size, _COUNTED) if size >= 12 else 0
