"""Makes the sample exports and session files from the texts in scripts/.

Usage: python samples/make.py [FOLDER]

Every id and byte follows from the texts, so that running it twice changes nothing.
"""

from __future__ import annotations

import io
import json
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "twolane:samples")
CWD = "/home/dev/slipway"
NO_PARENT = "00000000-0000-4000-8000-000000000000"

Json = dict[str, Any]


@dataclass
class Turn:
    """One turn of a script: who, what, and the words after the role."""

    who: str
    note: str
    at: datetime
    text: str = ""


@dataclass
class Talk:
    """One conversation of a script."""

    title: str
    at: datetime
    turns: list[Turn] = field(default_factory=list)

    def id(self, part: object = "") -> str:
        """A stable id of the conversation, or of one *part* of it."""
        return str(uuid.uuid5(SPACE, f"{self.title}/{part}"))


def talks(name: str) -> Iterator[Talk]:
    """The conversations of the script *name*; turns are two minutes apart."""
    text = (HERE / "scripts" / name).read_text(encoding="utf-8")
    for block in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        stamp, title = head[:16], head[17:]
        talk = Talk(title, datetime.strptime(stamp, "%Y-%m-%d %H:%M").replace(tzinfo=UTC))
        for number, part in enumerate(re.split(r"^--- ", body, flags=re.MULTILINE)[1:]):
            line, _, words = part.partition("\n")
            who, _, note = line.partition(" ")
            talk.turns.append(
                Turn(who, note, talk.at + timedelta(minutes=2 * number), words.strip())
            )
        yield talk


def iso(at: datetime) -> str:
    """*at* as the exports write it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def chatgpt(talk: Talk) -> Json:
    """*talk* as an element of ChatGPT's conversations.json."""
    root = "client-created-root"
    mapping: dict[str, Json] = {root: {"id": root, "message": None, "parent": None, "children": []}}
    parent = root
    for number, turn in enumerate(talk.turns):
        node = talk.id(number)
        mapping[parent]["children"].append(node)
        message = {
            "id": node,
            "author": {"role": turn.who, "name": None, "metadata": {}},
            "create_time": turn.at.timestamp(),
            "update_time": None,
            "content": {"content_type": "text", "parts": [turn.text]},
            "status": "finished_successfully",
            "end_turn": turn.who == "assistant" or None,
            "weight": 1.0,
            "metadata": {},
            "recipient": "all",
            "channel": None,
        }
        mapping[node] = {"id": node, "message": message, "parent": parent, "children": []}
        if turn.note != "abandoned":
            parent = node
    return {
        "title": talk.title,
        "create_time": talk.at.timestamp(),
        "update_time": talk.turns[-1].at.timestamp(),
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": talk.id(),
        "id": talk.id(),
        "is_archived": False,
        "default_model_slug": "sample",
    }


def claude_ai(talk: Talk) -> Json:
    """*talk* as an element of Claude.ai's conversations.json."""
    messages: list[Json] = []
    for number, turn in enumerate(talk.turns):
        text, attachments = turn.text, []
        if turn.note.startswith("attachment="):
            text, _, pasted = turn.text.partition("\n")
            attachments = [
                {
                    "file_name": turn.note.removeprefix("attachment="),
                    "file_size": len(pasted),
                    "file_type": "txt",
                    "extracted_content": pasted,
                }
            ]
        at = iso(turn.at)
        block = {"type": "text", "text": text, "start_timestamp": at, "stop_timestamp": at}
        messages.append(
            {
                "uuid": talk.id(number),
                "text": text,
                "content": [{**block, "flags": None, "citations": []}],
                "sender": "human" if turn.who == "user" else turn.who,
                "created_at": at,
                "updated_at": at,
                "attachments": attachments,
                "files": [],
                "parent_message_uuid": messages[-1]["uuid"] if messages else NO_PARENT,
            }
        )
    return {
        "uuid": talk.id(),
        "name": talk.title,
        "summary": "",
        "created_at": iso(talk.at),
        "updated_at": iso(talk.turns[-1].at),
        "account": {"uuid": str(uuid.uuid5(SPACE, "account"))},
        "chat_messages": messages,
    }


def claude_projects() -> list[Json]:
    """Claude.ai's projects.json: one project with one document."""
    at = "2026-03-01T09:00:00.000Z"
    handbook = (HERE / "scripts" / "handbook.md").read_text(encoding="utf-8")
    document = {"uuid": str(uuid.uuid5(SPACE, "handbook")), "filename": "handbook.md"}
    return [
        {
            "uuid": str(uuid.uuid5(SPACE, "project")),
            "name": "Slipway",
            "description": "",
            "is_private": True,
            "is_starter_project": False,
            "prompt_template": "",
            "created_at": at,
            "updated_at": at,
            "docs": [{**document, "content": handbook, "created_at": at}],
        }
    ]


def claude_code(talk: Talk) -> Iterator[Json]:
    """The lines of *talk* as a Claude Code session file."""
    session, parent = talk.id(), None
    for number, turn in enumerate(talk.turns):
        if turn.who == "tool":
            name, _, given = turn.note.partition(" ")
            key = "command" if name == "Bash" else "file_path"
            call = {
                "type": "tool_use",
                "id": f"toolu_{number}",
                "name": name,
                "input": {key: given},
            }
            answer = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": turn.text}
            entries = [("assistant", [call]), ("user", [answer])]
        elif turn.who == "assistant":
            entries = [("assistant", [{"type": "text", "text": turn.text}])]
        else:
            entries = [("user", turn.text)]
        for part, (role, content) in enumerate(entries):
            message: Json = {"role": role, "content": content}
            if role == "assistant":
                message |= {"id": f"msg_{number}", "type": "message", "model": "sample"}
            line = talk.id(f"{number}.{part}")
            yield {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": CWD,
                "sessionId": session,
                "version": "2.1.81",
                "gitBranch": "main",
                "type": role,
                "message": message,
                "uuid": line,
                "timestamp": iso(turn.at + timedelta(seconds=20 * part)),
            }
            parent = line
    yield {"type": "ai-title", "aiTitle": talk.title, "sessionId": session}


def archive(files: dict[str, object]) -> bytes:
    """A zip of JSON files, the same bytes every time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as pack:
        for name, value in files.items():
            entry = zipfile.ZipInfo(name, (2026, 5, 1, 0, 0, 0))
            pack.writestr(entry, json.dumps(value, ensure_ascii=False, indent=1))
    return out.getvalue()


def main() -> None:
    """Write everything into the folder given, or into this one."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    sessions = out / "claude-code" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", CWD)
    sessions.mkdir(parents=True, exist_ok=True)
    (out / "chatgpt-export.zip").write_bytes(
        archive({"conversations.json": [chatgpt(t) for t in talks("chatgpt.txt")]})
    )
    (out / "claude-ai-export.zip").write_bytes(
        archive(
            {
                "conversations.json": [claude_ai(t) for t in talks("claude-ai.txt")],
                "projects.json": claude_projects(),
            }
        )
    )
    for talk in talks("claude-code.txt"):
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in claude_code(talk))
        (sessions / f"{talk.id()}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
