"""The numbers of docs/ranking.md are those that the daemon and the formulas give."""

from __future__ import annotations

import re

import numpy as np

from tests.architecture.rooms import ROOT
from tests.support.daemon import running
from twolane.aio import AsyncClient
from twolaned.lanes.keyword.bm25 import Bm25, idf
from twolaned.search import score as formula

PAGE = (ROOT / "docs" / "ranking.md").read_text(encoding="utf-8")
SAMPLES = ROOT / "samples"


def table(first: str, place: int = 0) -> list[dict[str, str]]:
    """The table number *place* whose first column is headed *first*, a dict for each row."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE)
    (lines,) = [
        lines
        for lines in [[b.split("|")[1:-1] for b in block.splitlines()] for block in blocks]
        if lines[0][0].strip() == first
    ][place : place + 1]
    head = [cell.strip() for cell in lines[0]]
    return [dict(zip(head, (cell.strip() for cell in row), strict=True)) for row in lines[2:]]


def number(text: str) -> float:
    return float(text.replace(",", "")) if text else float("nan")


def shown(value: float, like: str) -> str:
    """*value* with as many decimals as *like*, thousands apart."""
    return f"{value:,.{len(like.partition('.')[2])}f}"


def scored(similarity: np.ndarray, both: list[bool]) -> list[str]:
    """The scores of medium conversations that were indexed now, as the page shows them."""
    ones = np.ones(len(both))
    total = formula.score(
        similarity=similarity,
        days=np.zeros(len(both)),
        quality=0.7 * ones,
        tier=ones,
        both_ways=np.array(both),
    ).total
    return [f"{value:.3f}" for value in total]


async def test_the_search_is_the_daemons() -> None:
    """The sample archive gives the rows, the parts and the scores of the page, in its order."""
    rows = table("Row")
    async with running() as daemon, AsyncClient(daemon.socket) as client:
        for path in (*sorted(SAMPLES.glob("*.zip")), SAMPLES / "claude-code"):
            async for _ in client.import_path(path):
                pass
        await client.add_source(SAMPLES / "slipway")
        async for _ in client.scan():
            pass
        answer = await client.search_final("redis streams", top_k=len(rows), explain=True)

    parts = {
        "bm25": "bm25",
        "similarity": "similarity",
        "recency": "recency",
        "quality": "quality",
        "tier": "tier",
        "outcome": "outcome",
        "both ways": "found_both_ways",
        "freshness": "freshness",
    }
    told = [
        {
            "Row": result.title,
            **{head: f"{getattr(result.score_parts, part):.3f}" for head, part in parts.items()},
            "score": f"{result.score:.3f}",
        }
        for result in answer.results
    ]
    assert rows == told


def test_the_weights_of_words_are_right() -> None:
    """The page's inverse document frequencies, and how a word's occurrences count."""
    for row in table("df"):
        assert row["weight"] == shown(idf(100_000, int(number(row["df"]))), row["weight"])
    (norm,) = Bm25(average_length=100.0).norms(np.array([100], np.uint16)).tolist()
    for row in table("tf"):
        tf = number(row["tf"])
        assert row["factor"] == shown(tf / (tf + norm), row["factor"])


def test_the_larger_similarity_is_right() -> None:
    """The example of both lanes, by `max`."""
    rows = table("Row", 1)
    bm25, cosine = (np.array([number(row[lane]) for row in rows]) for lane in ("bm25", "cosine"))
    similarity = formula.similarity_max(bm25, cosine)

    assert [row["similarity"] for row in rows] == [f"{value:.3f}" for value in similarity]
    assert [row["score"] for row in rows] == scored(
        similarity, [row["both ways"] == "1.3" for row in rows]
    )


def test_the_blended_similarity_is_right() -> None:
    """The same example, by `blend`."""
    rows = table("Row", 2)
    bm25, cosine = (np.array([number(row[lane]) for row in rows]) for lane in ("bm25", "cosine"))
    similarity = formula.similarity_blend(
        bm25, cosine, np.zeros(len(rows), np.int64), [formula.SpaceFusion(mean=0.10, weight=0.4)]
    )

    assert [row["similarity"] for row in rows] == [f"{value:.3f}" for value in similarity]
    assert [row["score"] for row in rows] == scored(
        similarity, [row["both ways"] == "1.3" for row in rows]
    )


def test_age_counts_as_the_page_says() -> None:
    """Recency, freshness and their weighted sum by days."""
    for row in table("Days since it was indexed"):
        days = np.array([number(row["Days since it was indexed"])])
        recent, fresh = formula.recency(days)[0], formula.freshness(days)[0]
        added = formula.RECENCY * recent + formula.FRESHNESS * fresh
        assert [row["recency"], row["freshness"], row["what both add to the score"]] == [
            f"{value:.3f}" for value in (recent, fresh, added)
        ]
