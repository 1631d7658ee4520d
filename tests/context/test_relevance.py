from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.context.relevance import TaskTerms, as_query
from twolaned.lanes.keyword.analyzer import analyze, analyze_query
from twolaned.search.marking import Marker

WORDS = st.sampled_from(
    "queue queues Queueing jobQueue job_queue HTTPServer dying dies die C++ c# Straße naïve café"
    " 出力队列 データ สวัสดี نَص x 7 2026-01-05 don't re-run Änderung İstanbul".split()
)


def terms(task: str) -> TaskTerms:
    found = analyze_query(task)
    return TaskTerms(dict.fromkeys(found, 1.0), Marker(found))


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS | st.text(max_size=6), max_size=12))
def test_a_text_holds_what_the_index_would_find_it_by(task: list[str], words: list[str]) -> None:
    """The same terms as the analyzer's, whatever shortcut is taken."""
    asked, text = terms(" ".join(task)), " ".join(words)

    assert asked.held(text) == set(analyze(text)) & asked.weights.keys()


def test_shares_are_weighed() -> None:
    """A rare term counts for more; no term of the task is no share."""
    asked = TaskTerms({"queue": 1.0, "zebra": 3.0}, Marker([]))

    assert 0.75 == asked.share(asked.held("a zebra"))
    assert 1.0 == asked.share(asked.held("zebra queues"))
    assert 0.0 == asked.share(asked.held("nothing"))
    assert "1/2" == asked.matched(asked.held("a zebra"))
    assert 0.0 == TaskTerms({}, Marker([])).share([])


@pytest.mark.parametrize(
    ("task", "query"),
    [
        ('fix "connection refused"', "fix connection refused"),
        ("drop -v and --force", "drop v and force"),
        ("path:src source:chatgpt", "path src source chatgpt"),
        ("all conf* files", "all conf files"),
        ("re-run std::move at 10:30", "re-run std :move at 10 30"),
    ],
)
def test_a_task_has_no_syntax(task: str, query: str) -> None:
    """What means something in a query is only words in a task."""
    assert query == as_query(task)
