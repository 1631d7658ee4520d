"""Writes conversations in the shapes that tools write them."""

from __future__ import annotations

import json
import uuid
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SHARD = 100
"""Conversations of one file of an export."""


@dataclass(frozen=True)
class Talk:
    """A conversation: its id, title, start (seconds since the epoch) and messages in turn."""

    id: str
    title: str
    at: int
    messages: list[str]


def talk_id(seed: int, number: int) -> str:
    """The id of conversation *number* of the corpus *seed*."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"twolane:bench:{seed}:{number}"))


class ChatgptExport:
    """A ChatGPT export: one zip with a file for every hundred conversations."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._waiting: list[dict[str, Any]] = []
        self._shards = 0

    def add(self, talks: Iterable[Talk]) -> None:
        """Append *talks*."""
        for talk in talks:
            self._waiting.append(_chatgpt(talk))
            if len(self._waiting) == SHARD:
                self._flush()

    def close(self) -> None:
        """Write what waits, and the archive's directory."""
        if self._waiting:
            self._flush()
        self._zip.close()

    def _flush(self) -> None:
        entry = zipfile.ZipInfo(f"conversations-{self._shards:03}.json", (2026, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, json.dumps(self._waiting, ensure_ascii=False))
        self._shards += 1
        self._waiting.clear()


class ClaudeCodeSessions:
    """A Claude Code folder: one JSONL file for each conversation, in a few projects."""

    def __init__(self, path: Path) -> None:
        self._path = path / "projects"

    def add(self, talks: Iterable[Talk]) -> None:
        """Write a file for each of *talks*."""
        for talk in talks:
            project = f"project{int(talk.id[:4], 16) % 40:02}"
            folder = self._path / f"-home-dev-{project}"
            folder.mkdir(parents=True, exist_ok=True)
            lines = _claude_code(talk, f"/home/dev/{project}")
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (folder / f"{talk.id}.jsonl").write_text(text, encoding="utf-8")

    def close(self) -> None:
        """Nothing is open."""


def _chatgpt(talk: Talk) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    parent = "root"
    for number, text in enumerate(talk.messages):
        node = f"{talk.id}-{number}"
        message = {
            "id": node,
            "author": {"role": "assistant" if number % 2 else "user", "metadata": {}},
            "create_time": talk.at + 60.0 * number,
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "weight": 1.0,
            "metadata": {},
            "recipient": "all",
        }
        nodes[node] = {"id": node, "message": message, "parent": parent, "children": []}
        parent = node
    return {
        "title": talk.title,
        "create_time": float(talk.at),
        "update_time": talk.at + 60.0 * len(talk.messages),
        "mapping": nodes,
        "current_node": parent,
        "conversation_id": talk.id,
        "id": talk.id,
    }


def _claude_code(talk: Talk, cwd: str) -> Iterable[dict[str, Any]]:
    parent = None
    for number, text in enumerate(talk.messages):
        role = "assistant" if number % 2 else "user"
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "type": "message", "model": "bench"}
        line = str(uuid.uuid5(uuid.UUID(talk.id), str(number)))
        at = datetime.fromtimestamp(talk.at + 60 * number, UTC)
        yield {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": cwd,
            "sessionId": talk.id,
            "version": "2.1.81",
            "gitBranch": "main",
            "type": role,
            "message": message,
            "uuid": line,
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        parent = line
    yield {"type": "ai-title", "aiTitle": talk.title, "sessionId": talk.id}
