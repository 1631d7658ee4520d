"""Every sample gives what stands beside it as expected."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from twolaned.ingest.drafts import draft_conversation
from twolaned.ingest.merge import merge_conversations
from twolaned.ingest.reader import IngestLimits, read
from twolaned.model.conversation import Conversation, MessageKind
from twolaned.model.document import Document
from twolaned.model.report import Skip

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"
SAMPLES = sorted(str(p.parent.relative_to(FORMATS)) for p in FORMATS.glob("*/*/expected.json"))

REASONS = {
    "bad_lines": "bad_line",
    "bad_records": "bad_record",
    "duplicate_uuid": "duplicate",
    "torn_last_line": "pending_line",
}
"""Warnings that have another name here."""

TITLES = {"session_index thread_name (last line wins)": "provider"}
"""Sources of titles that have another name here."""

FENCED = ("aider/history",)
"""Samples that tell of a message only what stands before its code."""

EMPTY = ("no_conversations", "empty_file", "compression_ratio")


@dataclass
class Found:
    """What reading gave."""

    conversations: dict[str, Conversation] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    skips: Counter[str] = field(default_factory=Counter)


def read_all(*paths: Path) -> Found:
    found = Found()
    for path in paths:
        for item in read(path, name=path.name, limits=IngestLimits()):
            if isinstance(item, Conversation):
                known = found.conversations.get(item.id)
                found.conversations[item.id] = (
                    item if known is None else merge_conversations(known, item)
                )
            elif isinstance(item, Document):
                found.documents.append(item)
            elif isinstance(item, Skip):
                found.skips[item.reason] += item.count
                found.skips[f"{item.reason}:{item.detail}"] += item.count
    return found


def inputs(sample: Path, expected: dict[str, Any]) -> list[Path]:
    """The files and folders to read; what is expected is not among them."""
    named = [sample / name for name in expected["inputs"]]
    if named != [sample]:
        return named
    if sample.parent.name == "codex":  # its index of threads lies beside the sessions
        return [sample]
    return sorted(p for p in sample.iterdir() if p.name != "expected.json")


def iso(ms: int | None) -> str | None:
    if ms is None:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample(sample: str) -> None:
    folder = FORMATS / sample
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    found = read_all(*inputs(folder, expected))

    assert sorted(found.conversations) == sorted(c["id"] for c in expected["conversations"])
    for wanted in expected["conversations"]:
        check(found.conversations[wanted["id"]], wanted, sample)
    kept = [m for c in found.conversations.values() for m in c.messages]
    for words in expected["off_branch"]:
        assert any(words in m.text and not m.on_main_line for m in kept), words
    for noise in expected["noise"]:
        assert not any(noise in m.text for m in kept), noise
        assert not any(noise in c.title for c in found.conversations.values()), noise
        assert not any(noise in d.text for d in found.documents), noise
    for warning in expected["warnings"]:
        check_warning(warning, found.skips)


def check(conversation: Conversation, wanted: dict[str, Any], sample: str) -> None:
    talk = conversation.main_line()
    for name in ("title", "project", "cwd"):
        assert getattr(conversation, name) == wanted[name], name
    assert conversation.title_from == TITLES.get(wanted["title_from"], wanted["title_from"])
    assert iso(conversation.created_at) == wanted["created_at"]
    assert iso(conversation.updated_at) == wanted["updated_at"]
    assert len(talk) == wanted["message_count"]
    if "last_text80" in wanted:
        assert talk[-1].text[:80] == wanted["last_text80"]
    else:
        assert [str(m.role) for m in talk] == wanted["roles"]
    for message, said in zip(talk, wanted["messages"], strict=False):
        text = message.text.partition("\n\n```")[0] if sample in FENCED else message.text
        assert text[:80] == said["text80"]
        assert str(message.role) == said["role"]
        assert iso(message.at) == said["at"]
    assert conversation.git_branch == wanted.get("git_branch", conversation.git_branch)
    assert list(conversation.children) == wanted.get("children", [])
    for name in ("custom_gpt", "attachments"):
        if name in wanted:
            assert conversation.extra[name] == str(wanted[name])


def check_warning(warning: str, skips: Counter[str]) -> None:
    code, _, count = warning.partition(":")
    if code == "no_conversations":
        assert sum(skips[reason] for reason in EMPTY) > 0 or not skips
        return
    reason = REASONS.get(code, code)
    if count.isdigit():
        assert skips[reason] == int(count), (reason, skips)
    elif count:
        assert skips[f"{reason}:{count}"] > 0
    else:
        assert skips[reason] > 0, skips


def test_the_order_of_two_exports_does_not_matter() -> None:
    folder = FORMATS / "chatgpt" / "re-export"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    drafts = [
        {i: draft_conversation(c) for i, c in read_all(*paths).conversations.items()}
        for paths in permutations(inputs(folder, expected))
    ]
    assert drafts[0] == drafts[1]


def test_documents_of_projects_are_documents() -> None:
    found = read_all(FORMATS / "claude-ai" / "basic")
    (document,) = found.documents
    assert document.id == "claude-ai-doc:d592f441-5ceb-4920-be2d-2646f37f9ec3"
    assert (document.title, document.project) == ("plan.md", "Allotment")
    assert document.text == "Plan for the allotment: beds, paths, compost."


def test_attachments_are_findable_and_nobodys_words() -> None:
    (conversation,) = read_all(FORMATS / "claude-ai" / "basic").conversations.values()
    attached = {
        m.speaker: m.text for m in conversation.messages if m.kind is MessageKind.ATTACHMENT
    }
    assert attached == {
        "notes.txt": "ATTACHED-BODY drainage notes",
        "Draft": "ARTIFACT-BODY better paragraph",
    }


def test_what_subagents_said_is_found_with_their_session() -> None:
    found = read_all(FORMATS / "claude-code" / "subagents").conversations
    for conversation in found.values():
        agents = [m for m in conversation.messages if m.speaker == "agent-aabb12c"]
        assert agents
        assert {m.kind for m in agents} == {MessageKind.ATTACHMENT}


def test_a_fork_says_what_it_was_forked_from() -> None:
    found = read_all(FORMATS / "claude-code" / "copies").conversations
    fork = found["claude-code:985f56a7-bfb5-4d1c-8763-069ef762035e"]
    assert fork.forked_from == "claude-code:97d27ab6-e6d2-4c01-b98f-1e966ffd55d7"
