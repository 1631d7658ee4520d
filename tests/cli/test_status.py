from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Run
from tests.client.fake import FakeDaemon
from twolane.cli import phrases, terminal, text
from twolane.v1 import common_pb2
from twolane.v1 import search_service_pb2 as search


@pytest.fixture
def busy(served: FakeDaemon) -> FakeDaemon:
    """A daemon with something to tell."""
    status = served.status
    status.tiers.add(kind=common_pb2.ROW_KIND_CONVERSATION, tier=common_pb2.TIER_HOT, rows=11000)
    status.tiers.add(kind=common_pb2.ROW_KIND_CONVERSATION, tier=common_pb2.TIER_COLD, rows=200)
    status.tiers.add(kind=common_pb2.ROW_KIND_DOCUMENT, tier=common_pb2.TIER_DOCUMENT, rows=45)
    status.passages, status.segments, status.memtable_passages = 98123, 4, 812
    status.disk_bytes, status.disk_free_bytes = 312_000_000, 54_000_000_000
    status.sources.add(source="chatgpt", rows=3080)
    status.sources.add(source="claude-code\x1b[2J", rows=8120)
    status.lanes.add(lane="keyword", state="ready")
    status.lanes.add(lane="meaning", state="off", message="No provider is configured.")
    status.mode = search.SEARCH_MODE_LEXICAL
    status.similarity = search.SIMILARITY_MAX
    status.ranking_date = search.RANKING_DATE_INDEXED
    error = status.recent_errors.add(where="scan", message="/notes: permission denied")
    error.at.FromDatetime(datetime.now(tz=UTC) - timedelta(minutes=5))
    status.next_action = "Run `twolane source scan`."
    return served


def test_status_tells_what_there_is(run: Run, busy: FakeDaemon) -> None:
    """Counts, lanes, errors and the one thing to do next are there to be read."""
    ended = run("status")

    assert (0, "") == (ended.code, ended.err)
    for line in (
        "  rows                            11,245",
        "    conversations in the archive  200",
        "  passages                        98,123 in 4 segments, 812 not sealed yet",
        "  disk                            312 MB used, 54 GB free",
        "  meaning   off · No provider is configured.",
        "  writer    running · idle",
        "  5 min ago · scan · /notes: permission denied",
        "Next: Run `twolane source scan`.",
    ):
        assert line in ended.out.splitlines()
    assert "\x1b" not in ended.out
    assert ended.out.index("claude-code") < ended.out.index("chatgpt")


def test_an_empty_daemon_has_a_status(run: Run, served: FakeDaemon) -> None:
    """Nothing is shown that is not there."""
    out = run("status").out

    assert "Sources" not in out
    assert "Recent errors" not in out
    assert "Next:" not in out


def test_status_as_json(run: Run, busy: FakeDaemon) -> None:
    """The whole answer is one object."""
    status = run("status", "--json").objects[0]

    assert "lexical" == status["mode"]
    assert {"kind": "document", "tier": "document", "rows": "45"} == status["tiers"][2]
    assert 1 == status["protocol"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9949, "9.9 kB"), (9951, "10 kB"),
     (999_499, "999 kB"), (999_501, "1.0 MB"), (41_000_000, "41 MB"), (5 * 10**15, "5000 TB")],
)  # fmt: skip
def test_sizes(number: int, said: str) -> None:
    """Sizes have two digits or more, and never four."""
    assert said == phrases.size(number)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0031, "3.1 ms"), (0.25, "250 ms"), (0.9994, "999 ms"), (1, "1.0 s"), (42, "42 s"),
     (120, "2 min"), (7200, "2 h"), (200_000, "2 d")],
)  # fmt: skip
def test_spans(seconds: float, said: str) -> None:
    """Spans of time are said in the one unit that suits them."""
    assert said == phrases.span(seconds)


def test_phrases() -> None:
    """Numbers agree with their nouns, and lists read as such."""
    assert "1 row" == phrases.count(1, "row")
    assert "1,000 copies" == phrases.count(1000, "copy", "copies")
    assert "just now" == phrases.ago(datetime.now(tz=UTC), datetime.now(tz=UTC))
    assert ["", "a", "a and b", "a, b and c"] == [phrases.listed("abc"[:n]) for n in range(4)]
    assert "a · c" == phrases.joined(("a", "", "c"))


def test_times_beyond_the_calendar_are_left_out() -> None:
    """A daemon's odd timestamp does not stop the rest from being shown."""
    from google.protobuf.timestamp_pb2 import Timestamp

    assert phrases.moment(Timestamp(seconds=-62135596800)) is None
    assert phrases.moment(Timestamp(seconds=1 << 60)) is None


@given(
    rows=st.lists(
        st.tuples(
            st.text(alphabet="ab 語", max_size=30), st.text(max_size=5), st.text(max_size=60)
        ),
        min_size=1,
        max_size=5,
    ),
    cells=st.integers(50, 100),
)
@settings(max_examples=100, deadline=None)
def test_tables_fit(rows: list[tuple[str, str, str]], cells: int) -> None:
    """The flexible column gives way, so that lines fit."""
    harmless = [tuple(map(text.line, row)) for row in rows]

    lines = terminal.table(harmless, flexible=2, right=(1,), indent="  ", cells=cells)

    assert all(text.width(line) <= max(cells, 60 + 2 + 10 + 4 + 8) for line in lines)
    assert len(rows) == len(lines)
