"""Grok's export, as people have it: deep in an archive, beside files that nobody may open."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.test_samples import read_all
from twolaned.ingest import json_stream
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.reader import read
from twolaned.model.conversation import Conversation, MessageKind
from twolaned.model.report import Skip


def response(key: str, sender: str, message: Any, parent: str | None = None, **more: Any) -> Any:
    moment = {"$date": {"$numberLong": str(1_775_822_400_000 + 1_000 * int(key))}}
    inner = {"_id": key, "sender": sender, "message": message, "create_time": moment}
    return {"response": inner | {"parent_response_id": parent} | more, "share_link": None}


def chat(*responses: Any, **facts: Any) -> dict[str, Any]:
    return {"conversation": {"id": "c1", "title": "Gears"} | facts, "responses": list(responses)}


def backend(tmp_path: Path, *chats: Any, name: str = "prod-grok-backend.json") -> Path:
    path = tmp_path / name
    whole = {
        "projects": [{"id": "p"}],
        "conversations": list(chats),
        "tasks": [],
        "media_posts": [],
    }
    path.write_text(json.dumps(whole))
    return path


def only(path: Path) -> Conversation:
    (found,) = read_all(path).conversations.values()
    return found


def test_an_artifact_in_an_answer_is_an_attachment(tmp_path: Path) -> None:
    text = (
        'Here it is.\n<xaiArtifact artifact_id="a" title="Gear table" contentType="text/html">'
        "\n<table>34</table>\n</xaiArtifact>\nUse it."
    )
    found = only(
        backend(tmp_path, chat(response("1", "human", "Draw"), response("2", "grok-4", text)))
    )
    assert [m.text for m in found.main_line()] == ["Draw", "Here it is.\n\n\n\nUse it."]
    (attached,) = (m for m in found.messages if m.kind is MessageKind.ATTACHMENT)
    assert (attached.speaker, attached.text) == ("Gear table", "<table>34</table>")


def test_an_artifact_that_was_cut_off_reaches_to_the_end(tmp_path: Path) -> None:
    found = only(backend(tmp_path, chat(response("1", "ASSISTANT", "So: <xaiArtifact>def f():"))))
    assert [(m.kind, m.text) for m in found.messages] == [
        (MessageKind.ASSISTANT, "So:"),
        (MessageKind.ATTACHMENT, "def f():"),
    ]


def test_without_parents_the_list_is_the_conversation(tmp_path: Path) -> None:
    found = only(
        backend(
            tmp_path,
            chat(
                response("2", "Human", "Later in time, first in the list"),
                response("1", "assistant", "Second"),
                response("3", "human", None),
                {"response": None},
                None,
            ),
        )
    )
    assert [m.text for m in found.messages] == ["Later in time, first in the list", "Second"]


def test_the_leaf_that_the_export_names_counts(tmp_path: Path) -> None:
    found = only(
        backend(
            tmp_path,
            chat(
                response("1", "human", "Which?"),
                response("2", "assistant", "This", "1"),
                response("3", "assistant", "That", "1"),
                leaf_response_id="2",
            ),
        )
    )
    assert [m.text for m in found.main_line()] == ["Which?", "This"]
    assert [m.text for m in found.messages if not m.on_main_line] == ["That"]


def test_a_conversation_without_times_title_or_wrappers(tmp_path: Path) -> None:
    bare = {"_id": "r", "sender": "human", "message": "Bare words"}
    found = only(backend(tmp_path, chat(bare, title=None, create_time="soon", modify_time=0)))
    assert (found.title, found.created_at, found.updated_at) == ("Bare words", None, None)


def test_account_files_and_uploads_are_never_opened(tmp_path: Path) -> None:
    """They would be read as exports, were they opened: their names alone keep them shut."""
    path = tmp_path / "export.zip"
    upload = json.dumps([{"uuid": "u", "chat_messages": [{"sender": "human", "text": "UPLOAD"}]}])
    folder = "30d/export_data/user"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(backend(tmp_path, chat(response("1", "human", "Mine"))), f"{folder}/x.json")
        archive.writestr(f"{folder}/prod-mc-billing.json", upload)
        archive.writestr(f"{folder}/prod-mc-auth-mgmt-api.json", upload)
        archive.writestr(f"{folder}/prod-mc-asset-server//a1/content", upload)
    found = read_all(path)
    assert list(found.conversations) == ["grok:c1"]
    assert (found.skips["account_data"], found.skips["uploaded_file"]) == (2, 1)


def test_two_exports_in_one_archive_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for folder in ("a", "b"):
            one = backend(tmp_path, chat(response("1", "human", "Mine"), id=folder))
            archive.write(one, f"{folder}/prod-grok-backend.json")
    found = read_all(path)
    assert (found.conversations, found.skips["ambiguous_export"]) == ({}, 2)


def test_a_cut_off_export_keeps_what_came_before(tmp_path: Path) -> None:
    path = backend(
        tmp_path,
        chat(response("1", "human", "First")),
        chat(response("1", "human", "Second"), id="c2"),
        chat(response("1", "human", "Third"), id="c3"),
    )
    path.write_bytes(path.read_bytes()[:-200])
    found = read_all(path)
    assert list(found.conversations) == ["grok:c1", "grok:c2"]
    assert found.skips["truncated"] == 1


def test_an_export_above_the_limit_comes_conversation_by_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more than one conversation is held, so that only one that is too large is left out."""
    monkeypatch.setattr(json_stream, "CHUNK", 4_096)
    chats = [chat(response("1", "human", f"word{n} " * 30), id=f"c{n}") for n in range(600)]
    chats[500] = chat(response("1", "human", "long " * 9_000), id="c500")
    path = backend(tmp_path, *chats)
    items = list(read(path, name="x", limits=IngestLimits(max_element_bytes=20_000)))
    assert sum(isinstance(item, Conversation) for item in items) == 599
    assert [i.reason for i in items if isinstance(i, Skip)] == ["conversation_too_large"]
