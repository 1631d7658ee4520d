"""The scenarios with half of each task's content words replaced, and the built-in model on."""

from __future__ import annotations

import numpy as np
import pytest

from tests.context.archive import Archive
from tests.scenarios.scenario import build, lead_of
from tests.scenarios.test_scenarios import SCENARIOS
from twolaned.embedding.builtin import SPACE, BuiltinProvider
from twolaned.model.embedding import InputType
from twolaned.search.question import MeaningQuestion

pytestmark = [pytest.mark.needs("git"), pytest.mark.slow]


async def embedded(archive: Archive, provider: BuiltinProvider) -> None:
    """Give every passage of *archive* its vector."""
    for number, texts in archive.texts.items():
        vectors = await provider.embed(texts, InputType.DOCUMENT)
        archive.meaning = archive.meaning.with_rows(
            str(SPACE),
            np.full(len(texts), number, np.uint32),
            np.arange(len(texts), dtype=np.uint32),
            vectors,
            vectors.shape[1],
        )


async def test_nine_in_ten_are_right_in_other_words(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The meaning lane finds the source that leads, where the words do not."""
    provider = BuiltinProvider()
    await provider.warm()
    wrong = {}
    for scenario in SCENARIOS:
        folder = tmp_path_factory.mktemp(scenario.name)
        archive = build(scenario, folder)
        await embedded(archive, provider)
        (vector,) = await provider.embed([scenario.reworded], InputType.QUERY)
        pack = archive.pack(
            scenario.reworded,
            cwd=str(folder / scenario.name),
            meaning=MeaningQuestion({str(SPACE): vector}),
        )
        if lead_of(pack)[0] != scenario.lead:
            wrong[scenario.name] = lead_of(pack)[0]
    await provider.aclose()

    assert len(wrong) <= len(SCENARIOS) // 10, wrong
