from __future__ import annotations

from datetime import UTC, datetime

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon
from twolane.v1 import compaction_service_pb2 as pb

WHEN = datetime(2026, 3, 30, 4, 0, tzinfo=UTC)


def compaction(**fields: object) -> pb.Compaction:
    known = {"number": 3, "conversations": 1_204, "content_bytes": 12_000_000}
    made = pb.Compaction(**known | fields)
    made.finished_at.FromDatetime(WHEN)
    return made


@pytest.fixture
def moved(served: FakeDaemon) -> FakeDaemon:
    """A daemon with something to move."""
    digests = [pb.Digest(id=f"2026-W{n:02}", statements=12) for n in range(1, 10)]
    served.compacted.compaction.CopyFrom(compaction(digests=digests))
    return served


def test_what_moved_is_said(run: Run, moved: FakeDaemon) -> None:
    """In two lines, whatever the number of digests."""
    ended = run("compact")

    assert 0 == ended.code
    assert (
        "Moved 1,204 conversations (12 MB) to the archive.\n"
        "Wrote 9 digests: 2026-W01, 2026-W02, 2026-W03, 2026-W04, 2026-W05, 2026-W06 and 3 more.\n"
    ) == ended.out
    assert "" == ended.err
    assert not moved.last("Compact").HasField("older_than")


def test_a_dry_run_says_what_would_be(run: Run, moved: FakeDaemon) -> None:
    """And asks for no more than that."""
    moved.compacted.compaction.dry_run = True
    ended = run("compact", "--dry-run", "--older-than", "90d", "--idempotency-key", "k")

    assert ended.out.startswith("Would move 1,204 conversations")
    request = moved.last("Compact")
    assert (True, "k", 90 * 86_400) == (
        request.dry_run,
        request.idempotency_key,
        request.older_than.seconds,
    )


def test_nothing_to_do_is_quiet(run: Run, served: FakeDaemon) -> None:
    """Cron mails what is written; a person who asks for a dry run wants an answer."""
    assert (0, "", "") == (lambda e: (e.code, e.out, e.err))(run("compact"))

    served.compacted.compaction.dry_run = True
    assert "Nothing is old enough to move.\n" == run("compact", "--dry-run").err


def test_a_repeated_key_is_said(run: Run, moved: FakeDaemon) -> None:
    """It is not an error; nothing happened on top."""
    moved.compacted.repeated_answer = True
    moved.compacted.compaction.rolled_back = True
    ended = run("compact", "--idempotency-key", "k")

    assert (0, "") == (ended.code, ended.out)
    assert "was rolled back since. Nothing changed." in ended.err


def test_a_model_that_failed_is_said_once(run: Run, moved: FakeDaemon) -> None:
    """However many digests it was asked for."""
    for digest in moved.compacted.compaction.digests:
        digest.fell_back = "Ollama cannot be reached"
    ended = run("compact")

    assert 0 == ended.code
    assert 1 == ended.err.count("Ollama cannot be reached")


def test_rollback_says_what_came_back(run: Run, served: FakeDaemon) -> None:
    """Twice is said to be twice."""
    served.rolled_back.compaction.CopyFrom(compaction(restored=1, rolled_back=True))
    assert (
        "Rolled back compaction 3: 1 conversation is current again.\n"
        == run("compact", "--rollback").out
    )
    served.rolled_back.repeated_answer = True
    ended = run("compact", "--rollback")
    assert (0, "Compaction 3 was rolled back already. Nothing changed.\n") == (
        ended.code,
        ended.out,
    )


def test_nothing_to_roll_back_is_code_1(run: Run, served: FakeDaemon) -> None:
    """As for whatever is not there."""
    served.failures["Rollback"] = Failure(
        code_pb2.NOT_FOUND, "Nothing was compacted yet.", "NOTHING_TO_ROLL_BACK"
    )
    ended = run("compact", "--rollback")

    assert 1 == ended.code
    assert "Nothing was compacted yet." in ended.err


def test_the_past_is_listed(run: Run, served: FakeDaemon) -> None:
    """All pages of it."""
    served.compactions = [compaction(rolled_back=True), compaction(number=2, idempotency_key="k")]
    first, second = run("compact", "--list").out.splitlines()

    assert first.startswith("3 · 2026-03-30")
    assert first.endswith("1,204 conversations · 0 digests · rolled back")
    assert second.endswith("0 digests · k")
    assert ["3", "2"] == [c["number"] for c in run("compact", "--list", "--json").objects]


def test_json_prints_every_message(run: Run, moved: FakeDaemon) -> None:
    """The last has done."""
    progress, done = run("compact", "--json").objects

    assert (False, True) == (progress["done"], done["done"])
    assert "1204" == done["compaction"]["conversations"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rollback", "--dry-run"),
        ("--rollback", "--list"),
        ("--list", "--older-than", "3d"),
        ("--older-than", "soon"),
        ("--older-than", "-3d"),
    ],
)
def test_what_makes_no_sense_is_code_2(
    run: Run, served: FakeDaemon, arguments: tuple[str, ...]
) -> None:
    """Nothing is sent."""
    ended = run("compact", *arguments)

    assert 2 == ended.code
    assert [] == [c for c in served.calls if c.method in ("Compact", "Rollback")]
