from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.world import MemoryStore, make_row
from twolaned.model.conversation import MessageKind, Role
from twolaned.model.errors import InvalidInput, NotFound
from twolaned.model.row import MessageSpan
from twolaned.search.evidence import GAP, EvidenceForm, OpenedEvidence, open_evidence
from twolaned.search.row_table import RowTable
from twolaned.search.snapshot import IndexSnapshot
from twolaned.search.tokens import estimate_tokens


def snapshot_of(store: MemoryStore) -> IndexSnapshot:
    return IndexSnapshot(
        generation=1,
        keyword=cast("Any", None),
        rows=RowTable.empty(),
        view=cast("Any", store.view),
    )


def opened(body: str, **arguments: int | EvidenceForm) -> OpenedEvidence:
    store = MemoryStore()
    store.put(make_row(1), body)
    return open_evidence(snapshot_of(store), "chatgpt:0001", **arguments)  # type: ignore[arg-type]


@given(st.text(max_size=60), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_pages_put_together_are_the_whole_text(body: str, size: int) -> None:
    """No page splits a character, none is empty before the end, and none is lost."""
    whole, offset = "", 0
    while True:
        page = opened(body, offset=offset, max_bytes=size)
        assert page.content or not body
        assert len(page.content.encode()) <= max(size, 4)
        assert offset == page.offset
        whole += page.content
        offset = page.next_offset
        if offset == 0:
            break

    assert body == whole
    assert len(body.encode()) == page.content_bytes


@given(st.text(min_size=1, max_size=30), st.integers(0, 200))
@settings(max_examples=200, deadline=None)
def test_any_offset_opens_at_the_start_of_a_character(body: str, offset: int) -> None:
    """An offset inside a character moves back to its start; one past the end gives nothing."""
    page = opened(body, offset=offset)
    data = body.encode()

    assert page.offset <= offset
    assert data[page.offset :].decode() == page.content
    assert (page.content == "") == (offset >= len(data))
    assert 0 == page.next_offset


def test_a_row_opens_by_its_evidence_key() -> None:
    """The key is the kind and the id; an id that looks like a key is an id first."""
    store = MemoryStore()
    store.put(make_row(1), "by id")
    store.put(make_row(2, id="document:chatgpt:0001"), "looks like a key")
    snapshot = snapshot_of(store)

    assert "by id" == open_evidence(snapshot, "chatgpt:0001").content
    assert "by id" == open_evidence(snapshot, "conversation:chatgpt:0001").content
    assert "looks like a key" == open_evidence(snapshot, "document:chatgpt:0001").content


@pytest.mark.parametrize("name", ["", "chatgpt:2", "digest:chatgpt:0001", "nonsense:chatgpt:0001"])
def test_an_unknown_id_is_not_found(name: str) -> None:
    """The error says where ids come from."""
    store = MemoryStore()
    store.put(make_row(1), "text")

    with pytest.raises(NotFound, match="search result"):
        open_evidence(snapshot_of(store), name)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("offset", {"offset": -1}),
        ("max_bytes", {"max_bytes": -1}),
        ("max_bytes", {"max_bytes": 1 << 22}),
    ],
)
def test_numbers_out_of_range_are_refused(field: str, arguments: dict[str, int]) -> None:
    """The error names the request's field."""
    with pytest.raises(InvalidInput) as refused:
        opened("text", **arguments)

    assert field == refused.value.field


def span(offset: int, length: int) -> MessageSpan:
    return MessageSpan(offset, length, Role.USER, MessageKind.HUMAN)


def test_a_page_has_the_messages_that_begin_in_it() -> None:
    """A message that goes on from the page before is not repeated."""
    store = MemoryStore()
    spans = [span(0, 10), span(12, 10), span(24, 10)]
    store.put(make_row(1), "x" * 34, spans)
    first = open_evidence(snapshot_of(store), "chatgpt:0001", max_bytes=20)
    second = open_evidence(snapshot_of(store), "chatgpt:0001", offset=20)

    assert (spans[0], spans[1]) == first.messages
    assert (spans[2],) == second.messages
    assert 3 == second.message_count


def test_the_row_is_told_in_full() -> None:
    """Everything that was kept with the row comes with it."""
    store = MemoryStore()
    row = make_row(
        1, project="p", cwd="/p", summary="s", parent="a", forked_from="b", decisions=("d",),
        key_outputs=("k",), topics=("t",), occurred_at=5, created_at=4,
        extra={"git_branch": "main"},
    )  # fmt: skip
    store.put(row, "text")
    page = open_evidence(snapshot_of(store), row.id)

    assert ("p", "/p", "s", "a", "b") == (
        page.project, page.cwd, page.summary, page.parent_id, page.forked_from_id
    )  # fmt: skip
    assert (("d",), ("k",), ("t",)) == (page.decisions, page.key_outputs, page.topics)
    assert (5, 4, "main") == (page.occurred_at, page.created_at, page.git_branch)


@pytest.mark.parametrize(
    "body",
    [
        " ".join(f"word{i}" for i in range(9_000)),
        "步骤重跑生成之后五十条悬空引用清零，修复已验证。" * 700,
        "x" * 50_000,
        "😀" * 9_000,
        "Über das Wörterbuch, nächtlich. " * 2_000,
    ],
    ids=["words", "chinese", "one word", "emoji", "german"],
)
def test_the_middle_form_is_start_and_end(body: str) -> None:
    """2,000 to 4,000 tokens in all, cut between words, and what is missing is counted."""
    page = opened(body, form=EvidenceForm.MIDDLE)
    head, _, tail = page.content.partition(GAP)

    assert 2_000 <= estimate_tokens(page.content.encode()) <= 4_000
    assert body.startswith(head)
    assert body.endswith(tail)
    shown = len(head.encode()) + len(tail.encode())
    assert len(body.encode()) == shown + page.omitted_bytes
    assert set(head.split()) | set(tail.split()) <= set(body.split()) or " " not in body
    assert () == page.messages


def test_the_middle_form_leaves_a_short_row_whole() -> None:
    """Nothing is left out of what is within the size anyway."""
    page = opened("word " * 3_000, form=EvidenceForm.MIDDLE)

    assert "word " * 3_000 == page.content
    assert 0 == page.omitted_bytes


def test_the_middle_form_keeps_to_max_bytes() -> None:
    """A caller with little room gets shorter ends."""
    page = opened("word " * 9_000, form=EvidenceForm.MIDDLE, max_bytes=1_000)

    assert 900 <= len(page.content.encode()) <= 1_000
