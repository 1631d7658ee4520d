from __future__ import annotations

import pytest

from twolaned.context.subjects import Claim, Contest, contests, same_words


def claim(text: str, day: int, *, row: str = "a", place: int = 0, **values: object) -> Claim:
    return Claim(text, "decision", row, (day, place), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We use Redis for the job queue.", "We use Postgres for the job queue."),
        ("We use Redis for the job queue.", ("The job queue moved from Redis to Postgres in May,"
         " because lost jobs cost us two customers and a lot of sleep.")),
        ("Logins expire after 30 days", "Logins expire after 7 days"),
    ],
)  # fmt: skip
def test_the_later_statement_holds(earlier: str, later: str) -> None:
    """On one subject the later one wins, whichever is found first."""
    assert [Contest(0, 1)] == contests([claim(earlier, 1), claim(later, 2)])
    assert [Contest(1, 0)] == contests([claim(later, 2), claim(earlier, 1)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use Redis for the job queue.", "We use Postgres for the user table."),
        ("We use Redis for the job queue.", "we use redis for the job queue"),
        ("We use Redis for the job queue.", "Job queue retries stop after five attempts a day."),
        ("Use it.", "Keep it."),
    ],
)
def test_other_subjects_and_repetitions_do_not_compete(one: str, other: str) -> None:
    """Two words in common are too few in long sentences, and the same words say the same."""
    assert [] == contests([claim(one, 1), claim(other, 2)])


def test_a_label_is_a_subject() -> None:
    """``Database: …`` is about the database whatever the words behind it."""
    old = claim("Database: MySQL", 1, subject="Database")
    new = claim("Database: Postgres 16 on the small machine", 2, subject="database")
    other = claim("Cache: Postgres 16 on the small machine", 3, subject="Cache")

    assert [Contest(0, 1)] == contests([old, new, other])


def test_the_later_place_holds_within_one_text() -> None:
    """Two statements of one text with one date stand in the order of the text."""
    pair = [claim("The metrics port is 80", 1, place=9), claim("The metrics port is 81", 1)]

    assert [Contest(1, 0)] == contests(pair)


def test_no_winner_is_made_up() -> None:
    """Statements of two texts of the same time contradict each other, and neither holds."""
    pair = [
        claim("We use Redis for the job queue.", 1),
        claim("We use Postgres for the job queue.", 1, row="b"),
    ]

    assert [Contest(0, 1, undecided=True)] == contests(pair)


def test_what_was_crossed_out_gives_way() -> None:
    """A struck statement loses against an older one."""
    pair = [
        claim("~~We use Redis for the job queue.~~", 5, struck=True),
        claim("We use Postgres for the job queue.", 1, row="b"),
    ]

    assert [Contest(0, 1)] == contests(pair)


def test_marks_and_case_do_not_make_another_statement() -> None:
    """The same words are the same statement."""
    assert same_words("**Use** Postgres!", "use postgres")
    assert not same_words("Use Postgres", "Use MySQL")
