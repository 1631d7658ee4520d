from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.compaction.weeks import day_of, week_in_words, week_of


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("moment", "week"),
    [
        ("2026-03-23T00:00:00", "2026-W13"),
        ("2026-03-29T23:59:59.999", "2026-W13"),
        ("2026-03-30T00:00:00", "2026-W14"),
        ("2027-01-01T12:00:00", "2026-W53"),
        ("2024-12-30T00:00:00", "2025-W01"),
        ("1969-12-31T23:59:59", "1970-W01"),
    ],
)
def test_a_moment_lies_in_its_iso_week(moment: str, week: str) -> None:
    """Monday begins a week in UTC, and the week's year is that of its Thursday."""
    assert week == week_of(ms(moment))


@pytest.mark.parametrize(
    ("week", "words"),
    [
        ("2026-W13", "Week 13 of 2026 (23 to 29 March 2026)"),
        ("2026-W14", "Week 14 of 2026 (30 March to 5 April 2026)"),
        ("2025-W01", "Week 1 of 2025 (30 December 2024 to 5 January 2025)"),
    ],
)
def test_a_week_is_said_with_its_days(week: str, words: str) -> None:
    """Month and year stand once where both ends share them."""
    assert words == week_in_words(week)


@given(st.integers(min_value=-(2**62), max_value=2**62))
def test_every_moment_has_a_week_and_a_day(moment: int) -> None:
    """A file's broken date is no reason to fail."""
    assert week_in_words(week_of(moment)).startswith("Week ")
    assert day_of(moment)
