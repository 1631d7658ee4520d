from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.drafts import draft_conversation
from twolaned.ingest.merge import merge_conversations, restore_conversation
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.row import Tier
from twolaned.store.records import RowRecord


def message(native: str | None, text: str, **fields: object) -> Message:
    return Message(
        role=Role.USER,
        kind=MessageKind.HUMAN,
        text=text,
        native_id=native,
        **fields,  # type: ignore[arg-type]
    )


def state(updated: int | None, *messages: Message, title: str = "Tides") -> Conversation:
    return Conversation(
        id="chatgpt:1",
        provider="chatgpt",
        title=title,
        title_from=TitleFrom.PROVIDER,
        messages=messages,
        updated_at=updated,
    )


texts = st.text(alphabet="abc \n", min_size=1, max_size=8).filter(str.strip)
states = st.builds(
    lambda updated, rows, title: state(
        updated, *(message(native, text) for native, text in rows), title=title
    ),
    st.none() | st.integers(1, 3),
    st.lists(st.tuples(st.none() | st.sampled_from("pqrst"), texts), max_size=6),
    st.sampled_from(["", "Tides", "Ebb"]),
)


@given(states, states)
def test_the_order_of_two_imports_does_not_matter(one: Conversation, other: Conversation) -> None:
    merged = merge_conversations(one, other)
    assert merged == merge_conversations(other, one)


@given(states, states)
def test_an_import_again_changes_nothing(one: Conversation, other: Conversation) -> None:
    merged = merge_conversations(one, other)
    for again in (one, other, merged):
        assert draft_conversation(merge_conversations(merged, again)) == draft_conversation(merged)


@given(states, states)
def test_no_words_are_lost(one: Conversation, other: Conversation) -> None:
    merged = merge_conversations(one, other)
    later_ids = {m.native_id for m in merged.messages}
    assert {m.native_id for m in (*one.messages, *other.messages)} == later_ids
    unnamed = {m.text for m in (*one.messages, *other.messages) if m.native_id is None}
    assert unnamed <= {m.text for m in merged.messages}


@given(states)
def test_a_stored_conversation_comes_back_as_it_was(one: Conversation) -> None:
    one = replace(one, git_branch="main", cwd="/home/dev/x", extra={"custom_gpt": "g-1"})
    draft = draft_conversation(one)
    body = draft.body.encode()
    row = RowRecord.of(draft, body, tier=Tier.HOT, indexed_at=1).row(1, draft.passages)
    assert draft_conversation(restore_conversation(row, body, draft.messages)) == draft


def test_what_only_the_earlier_state_holds_stays_in_its_place() -> None:
    earlier = state(1, message("a", "one"), message("x", "dropped"), message("b", "two"))
    later = state(2, message("a", "one"), message("b", "two, edited"), message("c", "three"))
    merged = merge_conversations(later, earlier)
    assert [m.text for m in merged.messages] == ["one", "dropped", "two, edited", "three"]


def test_the_later_title_wins_unless_it_is_empty() -> None:
    assert merge_conversations(state(1, title="Old"), state(2, title="New")).title == "New"
    assert merge_conversations(state(1, title="Old"), state(2, title="")).title == "Old"
