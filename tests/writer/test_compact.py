"""Compaction and its rollback, job by job."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.writer.archive import Archive, ignore, old_chat, opened, run
from twolaned.model.errors import DiskFull, NotFound
from twolaned.search.live import LiveIndex
from twolaned.writer.compact_job import compact_job
from twolaned.writer.delete_job import delete_job
from twolaned.writer.moves import still_live
from twolaned.writer.protocol import Compact, Delete
from twolaned.writer.rollback_job import rollback_job

CHATS = 60
WEEKS = ["2026-W13", "2026-W14", "2026-W15"]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with opened(tmp_path / "data") as archive:
        archive.add(*map(old_chat, range(CHATS)), indexed_at=5)
        yield archive


def test_conversations_move_and_their_weeks_get_digests(archive: Archive) -> None:
    """In one commit; texts and passages are not written anew."""
    before, rows = archive.manifest, archive.count("rows")
    report = archive.compact().report

    assert {"cold": CHATS, "digest": 3} == archive.tiers
    assert (CHATS, WEEKS) == (report.conversations, [d.id for d in report.digests])
    assert before.generation + 1 == archive.manifest.generation == report.index_generation
    assert rows + 3 == archive.count("rows")
    assert 5 == archive.indexed_at("claude:0")
    assert "conversation:claude:" in archive.body("2026-W13")


def test_without_enrichment_there_are_no_digests(archive: Archive) -> None:
    """Off is the default."""
    assert () == archive.compact(enrich=False).report.digests
    assert {"cold": CHATS} == archive.tiers


def test_only_what_is_old_enough_moves(archive: Archive) -> None:
    """A fresh conversation stays where it is."""
    archive.add(old_chat(1_000))
    command = Compact(older_than_ms=3_600_000)
    run(compact_job(archive.context, command, ignore))

    assert {"cold": CHATS, "hot": 1} == archive.tiers


def test_a_dry_run_changes_nothing_and_says_what_a_run_does(archive: Archive) -> None:
    """To the byte of the manifest and to the statement of each digest."""
    before, tables = archive.manifest, {t: archive.count(t) for t in ("rows", "moves", "log")}
    dry = archive.compact(dry_run=True).report

    assert before == archive.manifest
    assert tables == {t: archive.count(t) for t in tables}
    told = {"conversations", "content_bytes", "digests"}
    wet = archive.compact().report
    assert {t: getattr(dry, t) for t in told} == {t: getattr(wet, t) for t in told}
    assert (True, 0) == (dry.dry_run, dry.number)


def test_a_second_run_finds_nothing_to_do(archive: Archive) -> None:
    """Safe to call as often as one likes: it leaves no trace."""
    archive.compact()
    before = archive.manifest

    assert not archive.compact().report.changed
    assert before == archive.manifest
    assert 1 == archive.count("compactions")


def test_the_same_key_gets_the_first_answer(archive: Archive) -> None:
    """Whatever came since; also after a rollback, which it shows."""
    first = archive.compact(key="k").report
    archive.add(old_chat(1_000), indexed_at=5)

    again = archive.compact(key="k")
    assert (first, True) == (again.report, again.repeated)
    assert "hot" == archive.tier("claude:1000")

    undone = archive.roll_back().report
    assert undone.rolled_back_at is not None
    assert (
        dataclasses.replace(
            first,
            rolled_back_at=undone.rolled_back_at,
            restored=CHATS,
            index_generation=undone.index_generation,
        )
        == archive.compact(key="k").report
    )


def test_a_key_is_remembered_of_a_run_that_found_nothing(archive: Archive) -> None:
    """Its answer is no other because something came later; and there is nothing to undo in it."""
    archive.compact()
    assert not archive.compact(key="k").report.changed
    archive.add(old_chat(1_000), indexed_at=5)

    assert archive.compact(key="k").repeated
    assert CHATS == archive.roll_back().report.restored


def test_rollback_restores_tiers_and_digests(archive: Archive) -> None:
    """A digest that was replaced comes back as it was."""
    archive.compact()
    first, since = archive.body("2026-W13"), archive.indexed_at("2026-W13")
    archive.add(*map(old_chat, range(999, 1_059, 3)), indexed_at=5)
    report = archive.compact().report
    assert [("2026-W13", True)] == [(d.id, d.replaced) for d in report.digests]
    assert first != archive.body("2026-W13")

    assert 20 == archive.roll_back().report.restored
    assert {"cold": CHATS, "hot": 20, "digest": 3} == archive.tiers
    assert (first, since) == (archive.body("2026-W13"), archive.indexed_at("2026-W13"))


def test_rollback_leaves_what_has_changed_since(archive: Archive) -> None:
    """A conversation that grew is hot by itself; one whose title changed stays in the archive."""
    archive.compact()
    archive.add(
        old_chat(0, text="It has grown and is now current again."), old_chat(1, title="New")
    )
    assert ("hot", "cold") == (archive.tier("claude:0"), archive.tier("claude:1"))

    assert CHATS - 2 == archive.roll_back().report.restored
    assert {"hot": CHATS - 1, "cold": 1} == archive.tiers
    assert "cold" == archive.tier("claude:1")


def test_rollback_twice_undoes_once(archive: Archive) -> None:
    """A repeated call must not reach for the compaction before."""
    archive.compact()
    archive.add(old_chat(1_000), indexed_at=5)
    archive.compact()
    first = archive.roll_back()
    again = archive.roll_back()

    assert (first.report, True) == (again.report, again.repeated)
    assert "cold" == archive.tier("claude:0")


def test_nothing_to_roll_back_is_said(archive: Archive) -> None:
    """Before the first compaction."""
    with pytest.raises(NotFound, match="nothing to roll back"):
        archive.roll_back()


def test_after_a_rollback_a_run_does_it_again(archive: Archive) -> None:
    """A number is used once."""
    first = archive.compact().report
    archive.roll_back()
    second = archive.compact().report

    assert (1, 2) == (first.number, second.number)
    assert first.digests == second.digests
    assert {"cold": CHATS, "digest": 3} == archive.tiers
    assert (2,) == archive.manifest.compactions


def test_a_live_index_follows_both(archive: Archive) -> None:
    """Record by record, without loading anything anew."""
    live = LiveIndex(archive.store)
    loaded = live.snapshot.keyword
    archive.compact()
    live.refresh()
    assert {"cold": CHATS, "digest": 3} == tallied(live)
    archive.roll_back()
    live.refresh()
    assert {"hot": CHATS} == tallied(live)
    archive.compact(enrich=False)
    archive.add(old_chat(0, text="It has grown and is now current again."))
    live.refresh()
    assert {"cold": CHATS - 1, "hot": 1} == tallied(live)
    assert loaded.passages == live.snapshot.keyword.passages


def tallied(live: LiveIndex) -> dict[str, int]:
    return {str(t.tier): t.rows for t in live.snapshot.rows.tallies()}


def test_a_digest_forgets_what_is_deleted(archive: Archive) -> None:
    """Also the one that a rollback would bring back."""
    archive.compact()
    cited = archive.body("2026-W13").partition("conversation:")[2].partition("]")[0]
    archive.add(old_chat(999, text="The pilot found a new berth for the ferry."), indexed_at=5)
    archive.compact()
    run(delete_job(archive.context, Delete((cited,))))

    assert f"{cited}]" not in archive.body("2026-W13")
    archive.roll_back()
    assert f"{cited}]" not in archive.body("2026-W13")


def test_a_digest_of_deleted_conversations_goes_too(archive: Archive) -> None:
    """Nothing is left to say."""
    archive.compact()
    week = tuple(f"claude:{n}" for n in range(0, CHATS, 3))
    run(delete_job(archive.context, Delete(week)))

    assert not archive.has("2026-W13")
    assert archive.has("2026-W14")


def test_a_deleted_digest_stays_away(archive: Archive) -> None:
    """It was the person's wish."""
    archive.compact()
    run(delete_job(archive.context, Delete(("2026-W13",))))
    archive.add(old_chat(999), indexed_at=5)

    assert () == archive.compact().report.digests
    archive.roll_back()
    assert not archive.has("2026-W13")


def test_local_material_makes_a_local_digest(archive: Archive) -> None:
    """Its words stand in no other."""
    secret = "The password of the harbour pilot is a well kept secret."
    archive.add(old_chat(999, text=secret, local=True), indexed_at=5)
    archive.compact()

    assert secret in archive.body("2026-W13-local")
    assert secret not in archive.body("2026-W13")


def test_wherever_it_ends_the_store_is_as_before(archive: Archive) -> None:
    """Killed behind any of its steps, a compaction leaves nothing; then it runs to its end."""
    before = archive.manifest
    left = []  # what is never closed, as after a kill
    for steps in count():
        job = archive.compacting()
        left.append(job)
        if walk(job, steps):
            break
        archive.restart()
        assert {"hot": CHATS} == archive.tiers
        assert before == archive.manifest
        assert (0, 0, CHATS) == tuple(map(archive.count, ("moves", "staged", "rows")))
    assert {"cold": CHATS, "digest": 3} == archive.tiers
    assert steps >= 5


def test_wherever_a_rollback_ends_it_is_done_or_not(archive: Archive) -> None:
    """Killed behind any of its steps; a later one goes on from there."""
    archive.compact()
    left = []
    for steps in count():
        job = rollback_job(archive.context, ignore)
        left.append(job)
        ended = walk(job, steps)
        archive.restart()
        assert archive.tiers in ({"cold": CHATS, "digest": 3}, {"hot": CHATS})
        if ended:
            break
    assert {"hot": CHATS} == archive.tiers
    assert 0 == archive.count("moves")


def test_a_cancelled_run_is_forgotten_by_the_next(archive: Archive) -> None:
    """No restart lies between them."""
    for steps in count():
        job = archive.compacting()
        if walk(job, steps):
            break
        job.close()
        assert {"hot": CHATS} == archive.tiers
    assert {"cold": CHATS, "digest": 3} == archive.tiers
    assert CHATS == archive.count("moves")


def walk(job: object, steps: int) -> bool:
    """Take at most *steps* steps of *job*; return whether it ended."""
    for _ in range(steps):
        try:
            step = next(job)  # type: ignore[call-overload]
        except StopIteration:
            return True
        if step is not None:
            step.exception()
    return False


def test_a_save_in_between_stays_hot(archive: Archive) -> None:
    """Saves overtake a compaction; what they bring is newer than what it looked at."""
    for steps in count(1):
        job = archive.compacting()
        if walk(job, steps):
            break
        number = steps % CHATS
        archive.add(old_chat(number, text=f"It was changed in step {steps} of the compaction."))
        report = run(job).report  # type: ignore[attr-defined]
        assert "hot" == archive.tier(f"claude:{number}")
        assert archive.tiers["cold"] == report.conversations
        archive.roll_back()
        assert "cold" not in archive.tiers


def test_what_is_live_is_known_also_where_the_log_is_short(archive: Archive) -> None:
    """Either way the dead versions are left out."""
    since = archive.manifest.generation
    with archive.store.view() as view:
        numbers = view.numbers()
    archive.add(old_chat(0, text="It has grown and is now current again."))
    live = still_live(archive.store, numbers, since)

    assert CHATS - 1 == len(live)
    assert live == still_live(archive.store, numbers, -1)


@pytest.mark.parametrize("room", [0, 1])
def test_a_full_disk_leaves_it_as_before(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """It says so, and when there is room again, without a restart, it runs to its end."""
    before, change, written = archive.manifest, archive.store.change, count()

    def full() -> object:
        if next(written) >= room:
            raise DiskFull("The disk is full.")
        return change()

    monkeypatch.setattr(archive.store, "change", full)
    with pytest.raises(DiskFull):
        archive.compact()
    monkeypatch.undo()

    assert before == archive.manifest
    assert {"hot": CHATS} == archive.tiers
    archive.compact()
    assert {"cold": CHATS, "digest": 3} == archive.tiers
    assert CHATS == archive.count("moves")
