"""Rows and passages of judged texts, made as the product makes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.quality.judged import Text
from twolaned.ingest.drafts import draft_conversation, draft_document
from twolaned.ingest.searchable import searchable_text, text_to_embed
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.document import Document
from twolaned.model.row import RowDraft


def searchable(draft: RowDraft) -> list[str]:
    """What is indexed of *draft*, by passage; its title alone where it has none."""
    body = draft.body.encode()
    return [
        searchable_text(
            draft.title,
            draft.occurred_at,
            passage,
            body[passage.offset : passage.offset + passage.length].decode(),
        )
        for passage in draft.passages
    ] or [draft.title]


def embedded(draft: RowDraft) -> list[str]:
    """What is embedded of *draft*, by passage."""
    body = draft.body.encode()
    return [
        text_to_embed(draft.title, draft.occurred_at, passage, body, draft.messages)
        for passage in draft.passages
    ] or [draft.title]


def conversation(name: str, turns: Sequence[Text]) -> RowDraft:
    """A conversation of *turns*, ``Speaker: words`` each."""
    messages = []
    for turn in turns:
        speaker, _, words = turn.text.partition(": ")
        messages.append(
            Message(role=Role.USER, kind=MessageKind.HUMAN, text=words, speaker=speaker)
        )
    return draft_conversation(
        Conversation(
            id=name,
            provider="judged",
            title=turns[0].title,
            title_from=TitleFrom.PROVIDER,
            messages=tuple(messages),
        )
    )


def document(text: Text) -> RowDraft:
    """A document."""
    return draft_document(
        Document(root="judged", path="", title=text.title, text=text.text), source=None
    )


def numbered(rows: Iterable[Sequence[str]]) -> tuple[list[str], list[int]]:
    """All passages of *rows*, and the number of the row that each belongs to."""
    passages: list[str] = []
    numbers: list[int] = []
    for number, cut in enumerate(rows):
        passages += cut
        numbers += [number] * len(cut)
    return passages, numbers
