from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.compaction.examples import DAY, MARCH, said
from twolaned.compaction.digest import (
    Line,
    draft_digest,
    extractive_lines,
    restore_digest,
    without,
)
from twolaned.compaction.plan import Period
from twolaned.model.conversation import Role
from twolaned.model.row import RowDraft, RowKind, Tier
from twolaned.store.records import RowRecord

WEEK = Period("2026-W13", local=False, numbers=(1, 2, 3))
STATEMENTS = [
    said("The queue moves in June — “soon”.", 2, MARCH + DAY),
    said("Why is the ferry late on Mondays?", 1, MARCH, Role.USER),
    said("渡船到外岛需要四十分钟左右。", 3, MARCH + 2 * DAY),
]


def draft(lines: list[Line], period: Period = WEEK) -> RowDraft:
    return draft_digest(period, lines, provider="extractive", occurred_at=MARCH)


def lines_of(digest: RowDraft) -> list[str]:
    body = digest.body.encode()
    spans = {s.offset: s for s in digest.messages}.values()
    return [body[s.offset : s.offset + s.length].decode() for s in spans]


def test_a_digest_quotes_links_and_dates() -> None:
    """In order of time; the person's own words are marked as quoted."""
    digest = draft(extractive_lines(STATEMENTS))

    assert ("2026-W13", RowKind.DIGEST) == (digest.id, digest.kind)
    assert [
        "2026-03-25: “Why is the ferry late on Mondays?” [Title 1, conversation:claude:1]",
        "2026-03-26: The queue moves in June — “soon”. [Title 2, conversation:claude:2]",
        "2026-03-27: 渡船到外岛需要四十分钟左右。 [Title 3, conversation:claude:3]",
    ] == lines_of(digest)


def test_passages_are_parts_of_the_body() -> None:
    """Cut at lines, on borders of characters."""
    digest = draft(extractive_lines(STATEMENTS * 12))
    body = digest.body.encode()
    cuts = [body[p.offset : p.offset + p.length].decode() for p in digest.passages]

    assert len(cuts) > 1
    assert all(cut.startswith(("Week", "2026-")) for cut in cuts)


def test_a_local_digest_says_so() -> None:
    """So that no provider is ever sent its text."""
    digest = draft(extractive_lines(STATEMENTS), Period("2026-W13", local=True, numbers=(1,)))

    assert ("2026-W13-local", "local") == (digest.id, digest.extra["extraction"])


@given(st.sets(st.integers(1, 3)))
def test_a_digest_forgets_conversations(gone: set[int]) -> None:
    """What is left is what a digest without them would be, to the byte."""
    left = [s for s in STATEMENTS if int(s.key[-1]) not in gone]
    digest = without(
        draft(extractive_lines(STATEMENTS)), {f"conversation:claude:{n}" for n in gone}
    )

    assert digest == (draft(extractive_lines(left)) if left else None)


def test_a_line_on_several_conversations_goes_with_any_of_them() -> None:
    """A model may have taken its words from either."""
    both = Line("The ferry queue is late.", (STATEMENTS[0], STATEMENTS[1]))
    digest = draft([both, *extractive_lines(STATEMENTS[2:])])

    left = without(digest, {STATEMENTS[1].key})

    assert left is not None
    assert {STATEMENTS[2].key} == {span.native_id for span in left.messages}
    assert "queue" not in left.body


def test_a_stored_digest_can_be_written_again() -> None:
    """A rollback brings back the very same row."""
    digest = draft(extractive_lines(STATEMENTS))
    record = RowRecord.of(digest, digest.body.encode(), tier=Tier.DIGEST, indexed_at=5)

    assert digest == restore_digest(
        record.row(7, digest.passages), digest.body, list(digest.messages)
    )
