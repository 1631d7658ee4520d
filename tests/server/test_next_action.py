"""The one thing to do next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from twolaned.model.source import Source
from twolaned.server.next_action import next_action

WELL: dict[str, Any] = {
    "search_fault": "",
    "writer_state": "running",
    "writer_activity": "",
    "disk_free": 1 << 40,
    "data": Path("/data"),
    "sources": (),
    "rows": 7,
}
NEW = Source(id="n", path="/notes")
READ = Source(id="r", path="/read", last_scanned_at=1)
FAILED = Source(id="f", path="/gone", last_scanned_at=1, last_error="It is gone.")


def test_when_all_is_well_there_is_nothing_to_do() -> None:
    """An empty sentence, not praise."""
    assert "" == next_action(**WELL | {"sources": (READ,)})


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        pytest.param({"rows": 0}, "`twolane import PATH`", id="empty"),
        pytest.param({"sources": (NEW,)}, "Read /notes for the first time", id="never read"),
        pytest.param({"sources": (NEW, FAILED)}, "/gone: It is gone.", id="failed source"),
        pytest.param({"disk_free": 100 << 20}, "100 MiB left", id="low disk"),
        pytest.param({"writer_state": "restarting"}, "writer process", id="writer"),
        pytest.param({"search_fault": "It broke."}, "It broke. Run `twolane doctor`", id="search"),
    ],
)
def test_each_trouble_has_its_sentence(facts: dict[str, Any], said: str) -> None:
    """The sentence says what to do."""
    assert said in next_action(**WELL | facts)


def test_the_worst_comes_first() -> None:
    """One thing at a time."""
    worse = {"rows": 0, "sources": (NEW, FAILED), "disk_free": 0}

    assert "disk" in next_action(**WELL | worse)
    assert "writer" in next_action(**WELL | worse | {"writer_state": "stopped"})


def test_while_it_works_it_is_not_told_to_work() -> None:
    """An import that runs is what an empty index needs."""
    assert "" == next_action(**WELL | {"rows": 0, "writer_activity": "importing x"})
