"""Uniting two states of one conversation, as two exports of the same account hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from twolaned.ingest.drafts import GIT_BRANCH, TITLE_FROM, UPDATED_AT
from twolaned.model.conversation import Conversation, Message, TitleFrom
from twolaned.model.row import MessageSpan, Row, RowDraft

_Key = tuple[str, str, int]


def merge_conversations(one: Conversation, other: Conversation) -> Conversation:
    """Both states of a conversation as one, the same whichever comes first.

    Titles and other single facts are those of the later state. Messages are united by their native
    id, or by their words where they have none; what only the earlier state knows stays behind the
    message that it followed there. Nothing either of them holds is lost.
    """
    earlier, later = sorted((one, other), key=_lateness)
    known = dict(zip(_keys(later.messages), later.messages, strict=True))
    behind: dict[_Key | None, list[Message]] = {}
    anchor: _Key | None = None
    for key, message in zip(_keys(earlier.messages), earlier.messages, strict=True):
        if key in known:
            anchor = key
        else:
            behind.setdefault(anchor, []).append(message)
    messages = list(behind.get(None, ()))
    for key, message in known.items():
        messages.append(message)
        messages += behind.get(key, ())
    return replace(
        later,
        messages=tuple(messages),
        title=later.title or earlier.title,
        title_from=later.title_from if later.title else earlier.title_from,
        project=later.project or earlier.project,
        cwd=later.cwd or earlier.cwd,
        git_branch=later.git_branch or earlier.git_branch,
        created_at=_first(earlier.created_at, later.created_at),
        parent=later.parent or earlier.parent,
        forked_from=later.forked_from or earlier.forked_from,
        children=tuple(dict.fromkeys((*earlier.children, *later.children))),
        extra=earlier.extra | later.extra,
    )


def conversation_of(draft: RowDraft) -> Conversation:
    """The conversation that *draft* was made of."""
    return restore_conversation(draft, draft.body.encode(), draft.messages)


def restore_conversation(
    row: Row | RowDraft, body: bytes, spans: Sequence[MessageSpan]
) -> Conversation:
    """The conversation that *row* was made of; *body* is its text in UTF-8."""
    extra = dict(row.extra)
    title_from = extra.pop(TITLE_FROM, str(TitleFrom.NONE))
    updated_at = extra.pop(UPDATED_AT, None)
    return Conversation(
        id=row.id,
        provider=row.source,
        title=row.title,
        title_from=TitleFrom(title_from),
        messages=tuple(
            Message(
                role=span.role,
                kind=span.kind,
                text=body[span.offset : span.offset + span.length].decode(),
                native_id=span.native_id,
                at=span.at,
                on_main_line=span.on_main_line,
                speaker=span.speaker,
            )
            for span in spans
        ),
        project=row.project,
        cwd=row.cwd,
        git_branch=extra.pop(GIT_BRANCH, None),
        created_at=row.created_at,
        updated_at=None if updated_at is None else int(updated_at),
        parent=row.parent,
        forked_from=row.forked_from,
        extra=extra,
    )


def _lateness(state: Conversation) -> tuple[int, int, int, str]:
    size = sum(len(message.text) for message in state.messages)
    # The last part only makes the order the same in both directions.
    return (state.updated_at or 0, len(state.messages), size, repr(state))


def _keys(messages: Sequence[Message]) -> list[_Key]:
    """A key for each message, the n-th of those that look alike."""
    seen: Counter[tuple[str, str]] = Counter()
    keys = []
    for message in messages:
        named = message.native_id is not None
        name = (f"{message.kind}", f"id:{message.native_id}" if named else f"text:{message.text}")
        keys.append((*name, seen[name]))
        seen[name] += 1
    return keys


def _first(one: int | None, other: int | None) -> int | None:
    known = [at for at in (one, other) if at is not None]
    return min(known) if known else None
