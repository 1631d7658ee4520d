from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.archived import archived_row, export_line
from twolaned.ingest.drafts import draft_conversation, draft_document
from twolaned.ingest.saved import SavedNote, draft_saved
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.document import Document
from twolaned.model.errors import InvalidInput
from twolaned.model.row import RowDraft, Tier
from twolaned.store.records import RowRecord


def line_of(draft: RowDraft, tier: Tier = Tier.HOT) -> bytes:
    body = draft.body.encode()
    row = RowRecord.of(draft, body, tier=tier, indexed_at=77).row(5, draft.passages)
    return export_line(row, draft.body, draft.messages)


@given(st.lists(st.tuples(st.text(max_size=1_600), st.sampled_from(MessageKind)), max_size=5))
def test_a_conversation_comes_back_as_it_was(parts: list[tuple[str, MessageKind]]) -> None:
    messages = tuple(
        Message(role=Role.USER, kind=kind, text=text, native_id=f"m{i}", at=i)
        for i, (text, kind) in enumerate(parts)
    )
    draft = draft_conversation(
        Conversation(
            id="chatgpt:1",
            provider="chatgpt",
            title="Tides",
            title_from=TitleFrom.PROVIDER,
            messages=messages,
            extra={"custom_gpt": "g-1"},
        )
    )
    line = line_of(draft, Tier.COLD)
    assert line.count(b"\n") == 1
    back = archived_row(line)
    assert (back.draft, back.indexed_at, back.tier) == (draft, 77, Tier.COLD)


def test_documents_and_notes_come_back_as_they_were() -> None:
    document = draft_document(
        Document(root="/a", path="b.md", title="B", text="# B\n\nwords", syntax="markdown"), None
    )
    note, _ = draft_saved(SavedNote(source="x", summary="Sum.", decisions=("One.",), domain="d"))
    for draft in (document, note):
        assert archived_row(line_of(draft)).draft == draft


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[1]",
        b'{"format":"twolane-row","version":1,"indexed_at":1,"tier":"hot","row":{}}',
        b'{"format":"twolane-row","version":9,"indexed_at":1,"tier":"hot","row":{}}',
    ],
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidInput):
        archived_row(line)


def test_places_outside_the_text_are_refused() -> None:
    draft = draft_saved(SavedNote(source="x", summary="Short."))[0]
    with pytest.raises(InvalidInput, match="outside"):
        archived_row(line_of(draft).replace(b'"length":6', b'"length":60'))
