"""Small sets of judged questions: the bar is what the lane reaches, and it falls with the analyzer.

The large public sets that the analyzer was chosen by are scored by ``bench/quality/run.py``.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bench.quality.lane import Lane
from bench.quality.measures import score
from twolaned.lanes.keyword import analyzer

SETS = Path(__file__).parent / "sets"
BARS = {"english": 0.98, "identifiers": 0.98, "scripts": 0.98}
FALL = 0.05
"""How much a broken analyzer loses at least."""


def ndcg(name: str) -> float:
    """The keyword lane's nDCG@10 on one of the sets."""
    judged = tomllib.loads((SETS / f"{name}.toml").read_text("utf-8"))
    names = list(judged["texts"])
    lane = Lane(list(judged["texts"].values()))
    grades = {q: dict.fromkeys(answers, 1) for q, answers in judged["questions"].items()}
    assert all(set(of_question) <= set(names) for of_question in grades.values())
    run = {question: {names[row]: s for row, s in lane.ask(question, 10)} for question in grades}
    return score(run, grades, list(grades)).ndcg10


@pytest.mark.parametrize("name", sorted(BARS))
def test_the_lane_reaches_its_bar(name: str) -> None:
    assert ndcg(name) >= BARS[name]


def whole(stretch: str, size: int) -> list[str]:
    return [stretch]


@pytest.mark.parametrize(
    ("name", "part", "broken"),
    [
        ("english", "stem", lambda word: word),
        ("identifiers", "_PARTS", analyzer.re.compile(r".+")),
        ("scripts", "_grams", whole),
    ],
)
def test_the_bar_is_missed_without(
    monkeypatch: pytest.MonkeyPatch, name: str, part: str, broken: object
) -> None:
    """Stems, parts of identifiers, and pairs of characters each carry their set."""
    monkeypatch.setattr(analyzer, part, broken)
    assert ndcg(name) < BARS[name] - FALL


def test_every_set_has_a_bar() -> None:
    assert {file.stem for file in SETS.glob("*.toml")} == set(BARS)
