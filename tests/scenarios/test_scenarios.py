from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.scenarios.blended import BLENDED
from tests.scenarios.current_truth import CURRENT_TRUTH
from tests.scenarios.reasoning_archive import REASONING_ARCHIVE
from tests.scenarios.scenario import Scenario, build, lead_of
from twolaned.context import rendering
from twolaned.context.pack import DEFAULT_BYTES

SCENARIOS = (*CURRENT_TRUTH, *REASONING_ARCHIVE, *BLENDED)

pytestmark = pytest.mark.needs("git")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_the_right_source_leads(scenario: Scenario, tmp_path: Path) -> None:
    """By keywords alone the pack begins with the source that answers the task."""
    archive = build(scenario, tmp_path)

    pack = archive.pack(scenario.task, cwd=str(tmp_path / scenario.name))

    lead, quote = lead_of(pack)
    assert (scenario.intent, scenario.lead) == (pack.intent.value, lead)
    assert scenario.says in quote
    assert len(rendering.to_json(pack).encode()) <= DEFAULT_BYTES


def test_the_suite_covers_every_intent() -> None:
    """There are scenarios enough of each kind to say something."""
    counts = Counter(scenario.intent for scenario in SCENARIOS)

    assert len(SCENARIOS) >= 20
    assert {"current_truth", "reasoning_archive", "blended"} == set(counts)
    assert min(counts.values()) >= 6
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)
