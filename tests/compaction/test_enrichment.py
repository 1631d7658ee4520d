from __future__ import annotations

import json

import pytest

from tests.compaction.examples import said
from twolaned.compaction.enrichment import EnrichmentFailed, write_lines
from twolaned.model.compaction import Enrichment

STATEMENTS = [
    said("The ferry timetable moves to the new queue on 3 June.", 1, 1),
    said("Retrying the ledger costs 40 seconds for every invoice.", 2, 2),
    said("The harbour pilot needs a beacon at the second berth.", 3, 3),
]


class FakeModel:
    """Answers *answer*, or fails with it."""

    def __init__(self, answer: str | EnrichmentFailed) -> None:
        self._answer = answer
        self.asked: list[tuple[str, str]] = []

    def answer(self, prompt: str, material: str, shape: dict[str, object]) -> str:
        assert shape["required"] == ["lines"]
        self.asked.append((prompt, material))
        if isinstance(self._answer, EnrichmentFailed):
            raise self._answer
        return self._answer


def lines(*said: tuple[str, list[int]]) -> str:
    return json.dumps({"lines": [{"text": text, "sources": sources} for text, sources in said]})


INVENTED = ("Revenue exceeded expectations.", [1])
GOOD = ("The timetable moves to a new queue on 3 June.", [1])


def test_without_a_model_the_statements_speak() -> None:
    """Word for word, each on its own conversation."""
    written = write_lines(STATEMENTS, None)

    assert (Enrichment.EXTRACTIVE, "") == (written.provider, written.fell_back)
    assert {s.text for s in STATEMENTS} == {line.text for line in written.lines}


def test_a_models_line_stands_on_its_sources() -> None:
    """It is linked to what it was made of."""
    model = FakeModel(lines(GOOD, ("Ledger retrying costs 40 seconds an invoice.", [2])))

    written = write_lines(STATEMENTS, model)

    assert Enrichment.OLLAMA is written.provider
    assert [(GOOD[0], (STATEMENTS[0],))] == [(x.text, x.sources) for x in written.lines[:1]]
    assert [1, 2, 3] == [json.loads(x)["number"] for x in model.asked[0][1].splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(("The timetable moves to a new queue on 4 June.", [1]), id="other number"),
        pytest.param(("Quarterly revenue exceeded expectations everywhere.", [1]), id="invented"),
        pytest.param(("The timetable moves to a new queue.", [4]), id="no such source"),
        pytest.param(("The timetable moves to a new queue.", []), id="no source"),
        pytest.param(("The harbour pilot needs a beacon.", [1]), id="wrong source"),
        pytest.param(("", [1]), id="empty"),
        pytest.param(("timetable " * 60, [1]), id="endless"),
    ],
)
def test_a_line_that_is_not_borne_out_is_dropped(line: tuple[str, list[int]]) -> None:
    """The rest of the answer stands."""
    written = write_lines(STATEMENTS, FakeModel(lines(GOOD, line)))

    assert [GOOD[0]] == [x.text for x in written.lines]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Certainly! Here is the digest:", id="chatter"),
        pytest.param('{"lines": "none"}', id="other shape"),
        pytest.param(lines(), id="nothing"),
        pytest.param(lines(GOOD, *[INVENTED] * 3), id="mostly invented"),
        pytest.param(EnrichmentFailed("Ollama cannot be reached"), id="unreachable"),
    ],
)  # fmt: skip
def test_a_model_that_fails_is_replaced_by_the_statements(answer: str | EnrichmentFailed) -> None:
    """There is a digest all the same, and it says why the model's was not taken."""
    written = write_lines(STATEMENTS, FakeModel(answer))

    assert Enrichment.EXTRACTIVE is written.provider
    assert written.fell_back
    assert write_lines(STATEMENTS, None).lines == written.lines


def test_nothing_said_asks_no_model() -> None:
    """No statements, no digest."""
    model = FakeModel("unused")

    assert [] == write_lines([], model).lines
    assert [] == model.asked
