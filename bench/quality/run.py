"""Score the keyword lane on judged sets: ``python bench/quality/run.py [--data FOLDER]``.

Writes a TREC run a set and prints a table with the bars. Fails where one is missed. Texts are cut
as the daemon cuts documents, those of the row "sessions" as it cuts conversations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.quality.bars import BARS, SESSIONS_HIT1
from bench.quality.drafted import document, numbered, searchable
from bench.quality.judged import JudgedSet, load
from bench.quality.lane import Lane
from bench.quality.measures import Measures, score
from bench.quality.sessions import session_grades, session_run

DEPTH = 30


def run_of(judged: JudgedSet) -> dict[str, dict[str, float]]:
    """The lane's answers to the questions of *judged*, whose texts are cut as documents are."""
    lane = Lane(*numbered(searchable(document(judged.indexed(text))) for text in judged.texts))
    return {
        question.id: {judged.texts[row].id: s for row, s in lane.ask(question.text, DEPTH)}
        for question in judged.questions
    }


def write_run(path: Path, run: Mapping[str, Mapping[str, float]]) -> None:
    """Write *run* as trec_eval reads it."""
    lines = []
    for question, scores in run.items():
        ordered = sorted(scores.items(), key=lambda found: -found[1])
        lines += [
            f"{question} Q0 {text} {rank} {value:.7g} keyword\n"
            for rank, (text, value) in enumerate(ordered, 1)
        ]
    path.write_text("".join(lines), "utf-8")


def row(name: str, measures: Measures, bar: float | None, reached: float, seconds: float) -> str:
    verdict = "" if bar is None else ("PASS" if reached >= bar else "FAIL")
    figures = (
        measures.ndcg10, measures.mrr10, measures.recall5, measures.recall10, measures.recall30,
        measures.hit1,
    )  # fmt: skip
    shown = " ".join(f"{figure:8.4f}" for figure in figures)
    return f"{name:15} {shown} {'' if bar is None else bar:>6} {verdict:5} {seconds:5.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/quality/data"))
    parser.add_argument("--runs", type=Path, default=Path("bench/quality/runs"))
    parser.add_argument("sets", nargs="*", help="names of sets; all by default")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    missed = 0
    columns = ("nDCG@10", "MRR@10", "R@5", "R@10", "R@30", "hit@1")
    print(f"{'set':15} {' '.join(f'{c:>8}' for c in columns)} {'bar':>6}       {'s':>5}")
    for folder in sorted(p for p in options.data.iterdir() if (p / "meta.json").exists()):
        if options.sets and folder.name not in options.sets:
            continue
        started = time.perf_counter()
        judged = load(folder)
        run = run_of(judged)
        write_run(options.runs / f"{folder.name}.run", run)
        measures = score(run, judged.grades, [q.id for q in judged.headline()])
        bar = BARS.get(folder.name)
        missed += bar is not None and measures.ndcg10 < bar
        seconds = time.perf_counter() - started
        print(row(folder.name, measures, bar, measures.ndcg10, seconds), flush=True)
        if folder.name == "locomo-turn":
            started = time.perf_counter()
            run = session_run(judged)
            write_run(options.runs / "sessions.run", run)
            measures = score(run, session_grades(judged), list(judged.grades))
            missed += measures.hit1 < SESSIONS_HIT1
            seconds = time.perf_counter() - started
            print(row("sessions", measures, SESSIONS_HIT1, measures.hit1, seconds), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
