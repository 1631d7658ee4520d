"""Whole conversations: LoCoMo's sessions, each question asked of its own dialogue only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from bench.quality.drafted import numbered
from bench.quality.judged import JudgedSet, Text
from bench.quality.lane import Lane

PASSAGE = 1_200
"""Characters of a passage, whole turns."""

Cutter = Callable[[str, Sequence[Text]], list[str]]
"""The passages of a session by its name and turns."""


def session_of(turn: str) -> str:
    """The id of the session that the turn with this id belongs to."""
    return turn.rpartition(":")[0]


def session_run(turns: JudgedSet, cut: Cutter, n: int = 10) -> dict[str, dict[str, float]]:
    """The best sessions for each question of *turns*, in the passages that *cut* makes."""
    sessions: dict[str, list[Text]] = defaultdict(list)
    for turn in turns.texts:
        sessions[session_of(turn.id)].append(turn)
    names = list(sessions)
    lane = Lane(*numbered(cut(name, sessions[name]) for name in names))
    groups = np.array([sessions[name][0].group for name in names])
    run = {}
    for question in turns.questions:
        found = lane.ask(question.text, n, groups == question.group)
        run[question.id] = {names[row]: score for row, score in found}
    return run


def session_grades(turns: JudgedSet) -> dict[str, dict[str, int]]:
    """Which sessions answer each question: those with a turn that does."""
    return {
        question: {session_of(turn): 1 for turn, grade in grades.items() if grade > 0}
        for question, grades in turns.grades.items()
    }


def passages_of(_: str, session: Sequence[Text]) -> list[str]:
    """A session in passages of whole turns, each under the session's title."""
    cut: list[list[str]] = [[]]
    size = 0
    for turn in session:
        if cut[-1] and size + len(turn.text) > PASSAGE:
            cut.append([])
            size = 0
        cut[-1].append(turn.text)
        size += len(turn.text)
    return ["\n".join([session[0].title, *turns]) for turns in cut]
