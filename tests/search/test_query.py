from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.search.patterns import Pattern
from twolaned.search.query import ParsedQuery, parse_query

NOW = datetime(2026, 3, 15, 12, 30)  # noqa: DTZ001


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The person's clock is an hour ahead of UTC in winter and two in summer."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def parsed(text: str) -> ParsedQuery:
    return parse_query(text, NOW)


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> int:
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def test_words_are_free_text() -> None:
    """A plain question stays as it is."""
    assert ParsedQuery(text="why did we drop the queue?") == parsed(" why did  we drop the queue? ")


@pytest.mark.parametrize(
    "said", ['"full jitter"', "“full jitter”", "„full jitter“", "”full jitter”"]
)
def test_quoted_words_are_required_and_rank(said: str) -> None:
    """Straight and curly quotes mean the same."""
    query = parsed(f"retry {said} backoff")

    assert (Pattern("full jitter"),) == query.required
    assert "retry full jitter backoff" == query.text


def test_minus_excludes_words_phrases_and_prefixes() -> None:
    """`-word`, `-"phrase"` and `-word*`; excluded words do not rank."""
    query = parsed('queue -redis -"advisory lock" -conf*')

    assert (
        Pattern("redis"),
        Pattern("advisory lock"),
        Pattern("conf", prefix=True),
    ) == query.excluded
    assert "queue" == query.text


def test_a_star_makes_a_prefix() -> None:
    """Only the last word before the star is one; what stands before it is text."""
    query = parsed("conf* docs/set* get_us*")

    assert ("conf", "set", "get_us") == query.prefixes
    assert "docs/" == query.text


def test_filters_take_several_values_and_quotes() -> None:
    """Names of fields in any case; quotes hold spaces together."""
    query = parsed('source:chatgpt Source:grok path:"my dir/x" path:docs/*.md queue')

    assert ("chatgpt", "grok") == query.sources
    assert ("my dir/x", "docs/*.md") == query.paths
    assert "queue" == query.text
    assert () == query.read_as_text


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026", utc(2025, 12, 31, 23)),
        ("2026-07", utc(2026, 6, 30, 22)),
        ("2026-07-04", utc(2026, 7, 3, 22)),
        ("2026-3-1", utc(2026, 2, 28, 23)),
        ("2026-07-04T10:00", utc(2026, 7, 4, 8)),
        ("2026-07-04t10:00:30z", utc(2026, 7, 4, 10, 0, 30)),
        ("2026-07-04T10:00+05:30", utc(2026, 7, 4, 4, 30)),
        ("today", utc(2026, 3, 14, 23)),
        ("Yesterday", utc(2026, 3, 13, 23)),
        ("36h", utc(2026, 3, 13, 23, 30)),
        ("7d", utc(2026, 3, 8, 11, 30)),
        ("2w", utc(2026, 3, 1, 11, 30)),
        ("1m", utc(2026, 2, 15, 11, 30)),
        ("1y", utc(2025, 3, 15, 11, 30)),
    ],
)
def test_dates_are_local(said: str, moment: int) -> None:
    """A day begins at the person's midnight, with the offset that is in force then."""
    assert moment == parsed(f"after:{said}").after
    assert moment == parsed(f"before:{said}").before


def test_the_narrowest_dates_count() -> None:
    """Several dates must all be met."""
    query = parsed("after:2026-01 after:2026-02 before:2026-07 before:2026-06")

    assert utc(2026, 1, 31, 23) == query.after
    assert utc(2026, 5, 31, 22) == query.before


@pytest.mark.parametrize(
    "said",
    [
        "after:2026-13", "before:soon", "after:2026-02-30", "after:0000", "before:99999y",
        "after:9999y", "error:timeout", 'title:"two words"', "source:", "-source:x",
    ],
)  # fmt: skip
def test_what_is_no_filter_is_text_and_said_so(said: str) -> None:
    """Unknown fields and bad dates rank as words, and the answer lists them."""
    query = parsed(f"queue {said}")

    assert (said,) == query.read_as_text
    assert not query.has_filters
    assert query.text.split()[0] == "queue"
    assert len(query.text.split()) > 1


@pytest.mark.parametrize(
    "said",
    [
        "(", ")", "*", "^", ":", "@", "#", "=", "-", "--", "- -", "**", '"',
        "50%", "C++", "a'b", "don't", "AND", "OR", "NOT", "NEAR", "a AND b", "NEAR(a b)", '5" 6"',
        "foo*bar", "--force", "10:30", "std::vector", "https://x.de/a", "C:\\x", "Note: this",
        'unbalanced "quote here', "“unbalanced", '-"', "(foo)", "a*b*", "foo*)", 'say"x y"',
    ],
)  # fmt: skip
def test_everything_else_is_plain_text(said: str) -> None:
    """No operator, no error, and nothing is dropped."""
    query = parsed(said)

    assert said.split() == query.text.split()
    assert ParsedQuery(text=query.text) == query


def test_the_rest_of_an_unbalanced_quote_is_still_read() -> None:
    """A lone quotation mark does not swallow the operators behind it."""
    query = parsed('"foo -bar source:x')

    assert (Pattern("bar"),) == query.excluded
    assert ("x",) == query.sources


def test_a_quotation_may_open_behind_a_bracket() -> None:
    """Quoted words need white space or punctuation before them, not a letter."""
    assert (Pattern("x y"),) == parsed('("x y")').required
    assert () == parsed('say"x y"').required


@pytest.mark.parametrize("said", ['""', '" "', '"!!"', '-"?"'])
def test_quotes_around_nothing_require_nothing(said: str) -> None:
    """There must be a letter or digit to look for."""
    query = parsed(said)

    assert () == query.required
    assert () == query.excluded


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_text_raises(text: str) -> None:
    """Any string is a query."""
    query = parsed(text)

    assert all(pattern.text for pattern in query.required + query.excluded)


PIECES = (
    *'"“”-*: aé引\u0301',
    *("source:", "after:", "path:", "2026"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_mixture_of_operators_raises(text: str) -> None:
    """Operators in any order are a query too."""
    query = parsed(text)

    assert all(prefix for prefix in query.prefixes)


def test_long_runs_of_operators_are_read_in_reasonable_time() -> None:
    """The longest query, made of opening quotes that never close."""
    started = time.perf_counter()
    parsed("„" * 8192)
    parsed('a"' * 4096)

    assert time.perf_counter() - started < 2
