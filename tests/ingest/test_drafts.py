from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.drafts import draft_conversation, draft_document
from twolaned.ingest.searchable import searchable_text, text_to_embed
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.document import Document
from twolaned.model.row import Passage, PassageKind, Quality
from twolaned.model.source import Extraction, Source, SourceScope

LONG = "The ferry left its berth before the tide had turned. " * 40


def message(text: str, kind: MessageKind = MessageKind.HUMAN, **fields: object) -> Message:
    role = Role.USER if kind is MessageKind.HUMAN else Role.ASSISTANT
    return Message(role=role, kind=kind, text=text, **fields)  # type: ignore[arg-type]


def conversation(*messages: Message, **fields: object) -> Conversation:
    facts: dict[str, object] = {
        "id": "chatgpt:1",
        "provider": "chatgpt",
        "title": "Tides",
        "title_from": TitleFrom.PROVIDER,
    }
    return Conversation(messages=messages, **facts | fields)  # type: ignore[arg-type]


@given(st.lists(st.text(max_size=900), max_size=12))
def test_spans_and_passages_point_at_their_words(texts: list[str]) -> None:
    kinds = (MessageKind.HUMAN, MessageKind.ASSISTANT, MessageKind.ATTACHMENT)
    messages = [message(t, kinds[i % 3], on_main_line=i % 5 != 4) for i, t in enumerate(texts)]
    draft = draft_conversation(conversation(*messages))
    body = draft.body.encode()
    kept = [t.encode("utf-8", "replace").decode() for t in texts if t.strip()]
    assert [body[s.offset : s.offset + s.length].decode() for s in draft.messages] == kept
    covered = b"".join(body[p.offset : p.offset + p.length] for p in draft.passages)
    assert "".join(covered.decode().split()) == "".join("".join(kept).split())
    for passage in draft.passages:
        inside = [
            s
            for s in draft.messages
            if s.offset < passage.offset + passage.length and passage.offset < s.offset + s.length
        ]
        assert {_part(s.kind, s.on_main_line) for s in inside} == {passage.kind}


def _part(kind: MessageKind, on_main_line: bool) -> PassageKind:
    if not on_main_line:
        return PassageKind.OFF_BRANCH
    return PassageKind.SECONDARY if kind is MessageKind.ATTACHMENT else PassageKind.PRIMARY


def test_short_turns_share_a_passage_and_long_ones_do_not() -> None:
    draft = draft_conversation(
        conversation(
            message("When does the tide turn?"), message("At noon.", MessageKind.ASSISTANT)
        )
    )
    assert len(draft.passages) == 1
    draft = draft_conversation(
        conversation(message(LONG), message(LONG, MessageKind.ASSISTANT, speaker="Pilot"))
    )
    assert [p.context for p in draft.passages] == ["", "", "Pilot", "Pilot"]


def test_the_time_of_a_conversation_is_that_of_its_last_message() -> None:
    draft = draft_conversation(
        conversation(
            message("a", at=5), message("b", at=9), message("c", at=70, on_main_line=False)
        )
    )
    assert draft.occurred_at == 9
    assert draft_conversation(conversation(message("a"), updated_at=4)).occurred_at == 4
    assert draft_conversation(conversation(message("a"))).occurred_at is None


def test_the_hashes_tell_talk_from_the_rest() -> None:
    one = conversation(message("When?"), message("paste", MessageKind.ATTACHMENT))
    first = draft_conversation(one)
    assert draft_conversation(one) == first
    renamed = draft_conversation(replace(one, title="Other"))
    assert renamed.content_hash != first.content_hash
    assert renamed.text_hash == first.text_hash
    other_paste = replace(one, messages=(one.messages[0], message("x", MessageKind.ATTACHMENT)))
    assert draft_conversation(other_paste).text_hash == first.text_hash
    grown = replace(one, messages=(*one.messages, message("And then?")))
    assert draft_conversation(grown).text_hash != first.text_hash


@pytest.mark.parametrize(
    ("messages", "quality"),
    [
        ((message("hi"), message("Hello!", MessageKind.ASSISTANT)), Quality.LOW),
        ((message(LONG),), Quality.LOW),
        ((message("Why?"), message(LONG[:600], MessageKind.ASSISTANT)), Quality.MEDIUM),
        (
            (message("Which?"), message(f"We decided on LMDB. {LONG}", MessageKind.ASSISTANT)),
            Quality.HIGH,
        ),
        ((message("a"), message(LONG * 4, MessageKind.ASSISTANT), message("b")), Quality.HIGH),
    ],
)
def test_conversations_are_rated(messages: tuple[Message, ...], quality: Quality) -> None:
    assert draft_conversation(conversation(*messages)).quality is quality


def test_a_document_carries_its_headings_and_place() -> None:
    document = Document(
        root="/home/dev/slipway",
        path="docs/queue.md",
        title="The queue",
        text=f"# The queue\n\n{LONG[:900]}\n\n## Retries\n\n{LONG[:900]}\n\n### Backoff\n\n{LONG}",
        project="slipway",
        modified_at=7,
        syntax="markdown",
    )
    source = Source(
        id="s",
        path="/home/dev/slipway",
        scope=SourceScope.CLIENT,
        client_name="Harbour",
        extraction=Extraction.LOCAL,
    )
    draft = draft_document(document, source)
    assert draft.id == "/home/dev/slipway:docs/queue.md"
    assert draft.path == "/home/dev/slipway/docs/queue.md"
    assert draft.client == "Harbour"
    assert draft.extra["extraction"] == "local"
    assert list(dict.fromkeys(p.context for p in draft.passages)) == [
        "docs/queue.md",
        "docs/queue.md > Retries",
        "docs/queue.md > Retries > Backoff",
    ]


def test_a_heading_between_fences_is_code() -> None:
    text = f"# Top\n\n```sh\n# not a heading\nrun\n```\n\n{LONG}"
    document = Document(root="r", path="a.md", title="Top", text=text, syntax="markdown")
    draft = draft_document(document, None)
    assert {p.context for p in draft.passages} == {"a.md"}
    assert draft.path is None


def test_title_context_and_day_are_found_with_the_words() -> None:
    day = 1_772_000_000_000
    assert searchable_text("Tides", day, Passage(0, 4, "docs/a.md"), "noon") == (
        "Tides\ndocs/a.md\n2026-02-25 February\nnoon"
    )
    assert searchable_text("", None, Passage(0, 4), "noon") == "noon"
    assert searchable_text("", 10**17, Passage(0, 4), "noon") == "noon"


def test_who_said_what_is_embedded() -> None:
    """Each named speaker before their own words, also of a passage that begins within them."""
    draft = draft_conversation(
        conversation(
            message("Noon é?", speaker="Ann"), message("One."), message("Two then.", speaker="Bo")
        )
    )
    body = draft.body.encode()

    def embedded(start: str, end: str) -> str:
        offset = body.index(start.encode())
        passage = Passage(offset, body.index(end.encode()) + len(end.encode()) - offset, "Ann, Bo")
        return text_to_embed("Tides", None, passage, body, draft.messages)

    assert embedded("Noon", "then.") == "Tides\nAnn: Noon é?\n\nOne.\n\nBo: Two then."
    assert embedded("é?", "Two") == "Tides\nAnn: é?\n\nOne.\n\nBo: Two"
    assert embedded("then", "then.") == "Tides\nBo: then."


def test_without_names_what_is_found_is_what_is_embedded() -> None:
    """Of conversations and of documents."""
    talk = draft_conversation(conversation(message("Noon?"), message("One.")))
    passage = talk.passages[0]
    assert text_to_embed("Tides", None, passage, talk.body.encode(), talk.messages) == (
        "Tides\nNoon?\n\nOne."
    )
    assert text_to_embed("T", None, Passage(1, 3, "a.md"), b"xyzxx", ()) == "T\na.md\nyzx"
