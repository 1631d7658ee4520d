from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.saved import SavedNote, draft_saved, saved_id
from twolaned.model.row import Quality

NOTE = SavedNote(
    source="editor",
    summary="Redis streams lost acknowledged jobs on failover, so the queue moved to Postgres.",
    content="User: why did it lose them?\n\nAssistant: asynchronous replication.",
    decisions=("Use Postgres with SKIP LOCKED.",),
    key_outputs=("queue.sql",),
    topics=("queue", "postgres"),
)


def test_every_word_can_be_found_and_the_same_note_is_one_row() -> None:
    draft, warnings = draft_saved(NOTE)
    for words in ("acknowledged jobs", "SKIP LOCKED", "queue.sql", "asynchronous", "postgres"):
        assert words in draft.body
    assert warnings == ()
    assert draft_saved(NOTE)[0] == draft
    assert draft.id.startswith("saved:")
    assert draft.id != draft_saved(replace(NOTE, summary="Another thing."))[0].id


def test_a_key_names_the_row() -> None:
    keyed = draft_saved(replace(NOTE, idempotency_key="k"))[0]
    assert keyed.id == saved_id("editor", "k")
    assert draft_saved(replace(NOTE, idempotency_key="k", source="other"))[0].id != keyed.id
    assert draft_saved(NOTE, "saved:abc")[0].id == "saved:abc"


def test_a_thin_note_is_told_what_it_lacks() -> None:
    draft, warnings = draft_saved(SavedNote(source="cli", summary="ok"))
    assert draft.quality is Quality.LOW
    assert [w.split(".")[0] for w in warnings] == [
        "The summary is very short",
        "There is no `content`: only the summary can be found",
        "There are no `decisions`",
    ]


def test_the_callers_rating_stands() -> None:
    assert draft_saved(replace(NOTE, quality=Quality.LOW))[0].quality is Quality.LOW
    assert draft_saved(NOTE)[0].quality is Quality.HIGH


def test_a_title_comes_from_the_summary_and_ends_at_a_word() -> None:
    draft, _ = draft_saved(NOTE)
    assert draft.title.endswith("…")
    assert len(draft.title) <= 81
    assert NOTE.summary.startswith(draft.title[:-1] + " ")


@given(st.text(min_size=1), st.text(), st.lists(st.text(), max_size=3))
def test_any_words_make_a_row(summary: str, content: str, decisions: list[str]) -> None:
    draft, _ = draft_saved(
        SavedNote(source="x", summary=summary, content=content, decisions=tuple(decisions))
    )
    body = draft.body.encode()
    for passage in draft.passages:
        body[passage.offset : passage.offset + passage.length].decode()
