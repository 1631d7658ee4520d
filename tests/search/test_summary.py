from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.search.summary import SUMMARY, SUMMARY_BYTES, cut_summary


def test_the_rows_own_summary_comes_first() -> None:
    """The start of the body where there is none."""
    assert "What it was about." == cut_summary(" What it was about.\n", "body")
    assert "body" == cut_summary(" \n", " body\n")


def test_cuts_fall_between_words() -> None:
    """At most 800 characters of either."""
    text = " ".join(f"word{i}" for i in range(500))
    for summary in (cut_summary(text, ""), cut_summary("", text)):
        assert text.startswith(summary)
        assert summary.split()[-1] in text.split()
        assert 700 < len(summary) <= SUMMARY


@given(st.text(st.sampled_from("ab é引😀\n"), min_size=1, max_size=40), st.integers(1, 300))
@settings(max_examples=200, deadline=None)
def test_a_body_that_was_read_in_part(piece: str, times: int) -> None:
    """The character that the reading broke is never shown."""
    body = (piece * times).encode()
    start = body[:SUMMARY_BYTES].decode("utf-8", "replace")
    summary = cut_summary("", start, goes_on=len(body) > SUMMARY_BYTES)

    assert len(summary) <= SUMMARY
    assert "\ufffd" not in summary
    assert body.decode().strip().startswith(summary)
