"""Score both lanes together with the built-in model: ``python -m bench.quality.hybrid``.

All of it is the product's own: cuts, analyzer, both lanes, model, fusion and score. Vectors are
kept in ``bench/data``. Prints a table with the bars and fails where one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.quality.drafted import conversation, document, embedded, numbered, searchable
from bench.quality.judged import JudgedSet, Text, load
from bench.quality.lane import Lane
from bench.quality.measures import score as measure
from bench.quality.sessions import session_grades, session_of
from twolaned.embedding.builtin import SPACE, BuiltinProvider
from twolaned.lanes.keyword.analyzer import analyze_query
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.meaning import MeaningIndex, VectorIndex
from twolaned.model.embedding import InputType
from twolaned.model.result import LaneHits
from twolaned.model.row import RowDraft
from twolaned.search import score
from twolaned.search.fusion import lane_size, merge, ranking
from twolaned.search.ranked import Blend

BENCH = Path(__file__).resolve().parent.parent
BARS = {
    ("locomo-turn", "max"): 0.439 - 0.01,
    ("locomo-win5", "max"): 0.631 - 0.01,
    ("codebase", "max"): 0.702 - 0.01,
    ("scifact", "max"): 0.705 - 0.01,
    ("locomo-turn", "blend"): 0.493 - 0.01,
    ("locomo-win5", "blend"): 0.691 - 0.01,
    ("codebase", "blend"): 0.751 - 0.01,
    ("scifact", "blend"): 0.736 - 0.01,
}
"""nDCG@10."""
SESSIONS_BLEND = 0.755
"""Sessions found first, with a weight of .2 on meaning."""
WEIGHT = 0.4
SESSION_WEIGHT = 0.2

Vectors = NDArray[np.float32]


class Embedder:
    """Unit vectors of texts by the built-in model, each made once and kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._provider = BuiltinProvider()

    def of(self, name: str, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
        file = self._folder / f"{name}-{digest}.npy"
        if file.exists():
            kept: Vectors = np.load(file)
            return kept
        made = asyncio.run(self._provider.embed(texts, InputType.DOCUMENT))
        self._folder.mkdir(parents=True, exist_ok=True)
        np.save(file, made)
        return made


class BothLanes:
    """The rows of a judged set in both lanes."""

    def __init__(self, passages: Sequence[str], rows: Sequence[int], vectors: Vectors) -> None:
        self._lane = Lane(passages, rows)
        numbers = np.array(rows, np.uint32)
        within = np.arange(len(rows)) - np.searchsorted(numbers, numbers)
        index = VectorIndex.empty(str(SPACE), SPACE.dimensions)
        index = index.with_rows(numbers, within.astype(np.uint32), vectors)
        self._meaning = MeaningIndex.of([index])

    def ask(
        self,
        question: str,
        vector: NDArray[np.float32],
        weight: float | None,
        allowed: NDArray[np.bool_] | None = None,
        top_k: int = 10,
    ) -> list[tuple[int, float]]:
        """The best rows with their scores; *weight* None takes the larger similarity."""
        n = lane_size(top_k)
        numbers = self._lane.vocabulary.numbers
        terms = (numbers.get(term) for term in analyze_query(question))
        query = KeywordQuery(tuple(term for term in terms if term is not None))
        by_words = self._lane.index.search(query, n, allowed)
        by_words = _first(by_words, n)
        asked = {str(SPACE): vector}
        pool = merge(by_words, _first(self._meaning.search(asked, n, allowed), n))
        if weight is None:
            similarity = score.similarity_max(pool.bm25, pool.cosine)
        else:
            similarity = Blend(self._meaning, asked, weight).similarity(pool)
        ones = np.ones(len(pool))
        total = score.score(
            similarity=similarity,
            days=np.zeros(len(pool)),
            quality=ones,
            tier=ones,
            both_ways=pool.both_ways,
        ).total
        order_of = ranking(pool, total, lambda row: row.to_bytes(4, "big"))
        return [(int(pool.rows[place]), float(total[place])) for place in order_of]


def _first(hits: LaneHits, n: int) -> LaneHits:
    return LaneHits(hits.rows[:n], hits.scores[:n], hits.passages[:n])


def both_lanes(name: str, drafts: Sequence[RowDraft], embedder: Embedder) -> BothLanes:
    """The rows *drafts* in both lanes."""
    passages, rows = numbered(searchable(draft) for draft in drafts)
    texts = [text for draft in drafts for text in embedded(draft)]
    return BothLanes(passages, rows, embedder.of(f"{name}-passages", texts))


def runs_of(judged: JudgedSet, embedder: Embedder) -> dict[str, dict[str, dict[str, float]]]:
    """The answers by way of fusing."""
    lanes = both_lanes(judged.name, [document(judged.indexed(t)) for t in judged.texts], embedder)
    asked = [q.text for q in judged.questions]
    vectors = embedder.of(f"{judged.name}-questions", asked)
    return {
        way: {
            q.id: {judged.texts[row].id: s for row, s in lanes.ask(q.text, vector, weight)}
            for q, vector in zip(judged.questions, vectors, strict=True)
        }
        for way, weight in (("max", None), ("blend", WEIGHT))
    }


def session_runs(judged: JudgedSet, embedder: Embedder) -> dict[str, dict[str, dict[str, float]]]:
    """Whole sessions, each question asked of its own dialogue only."""
    sessions: dict[str, list[Text]] = defaultdict(list)
    for turn in judged.texts:
        sessions[session_of(turn.id)].append(turn)
    names = list(sessions)
    lanes = both_lanes("sessions", [conversation(n, sessions[n]) for n in names], embedder)
    groups = np.array([sessions[name][0].group for name in names])
    vectors = embedder.of(f"{judged.name}-questions", [q.text for q in judged.questions])
    return {
        way: {
            q.id: {names[row]: s for row, s in lanes.ask(q.text, vector, weight, groups == q.group)}
            for q, vector in zip(judged.questions, vectors, strict=True)
        }
        for way, weight in (("max", None), ("blend", SESSION_WEIGHT))
    }


def show(name: str, way: str, reached: Mapping[str, float], key: str, bar: float | None) -> bool:
    """Print one row; whether it reaches its bar."""
    passed = bar is None or reached[key] >= bar
    verdict = "" if bar is None else ("PASS" if passed else "FAIL")
    figures = " ".join(f"{reached[k]:8.4f}" for k in ("ndcg10", "mrr10", "recall10", "hit1"))
    print(
        f"{name:12} {way:6} {figures} {'' if bar is None else f'{bar:.3f}':>6} {verdict}",
        flush=True,
    )
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/quality/data"))
    parser.add_argument(
        "sets", nargs="*", default=["codebase", "locomo-win5", "locomo-turn", "scifact"]
    )
    given = parser.parse_args()
    embedder = Embedder(BENCH / "data" / "quality-vectors")
    missed = 0
    print(f"{'set':12} {'way':6} {'nDCG@10':>8} {'MRR@10':>8} {'R@10':>8} {'hit@1':>8} {'bar':>6}")
    for name in given.sets:
        began = time.perf_counter()
        judged = load(given.data / name)
        for way, run in runs_of(judged, embedder).items():
            found = measure(run, judged.grades, [q.id for q in judged.headline()])
            missed += not show(name, way, _figures(found), "ndcg10", BARS.get((name, way)))
        if name == "locomo-turn":
            for way, run in session_runs(judged, embedder).items():
                found = measure(run, session_grades(judged), list(judged.grades))
                bar = SESSIONS_BLEND if way == "blend" else None
                missed += not show("sessions", way, _figures(found), "hit1", bar)
        print(f"  {time.perf_counter() - began:.0f} s", flush=True)
    return 1 if missed else 0


def _figures(found: object) -> dict[str, float]:
    return {key: float(getattr(found, key)) for key in ("ndcg10", "mrr10", "recall10", "hit1")}


if __name__ == "__main__":
    raise SystemExit(main())
