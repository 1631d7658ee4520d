"""Whole conversations: LoCoMo's sessions, each question asked of its own dialogue only."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from bench.quality.drafted import conversation, numbered, searchable
from bench.quality.judged import JudgedSet, Text
from bench.quality.lane import Lane


def session_of(turn: str) -> str:
    """The id of the session that the turn with this id belongs to."""
    return turn.rpartition(":")[0]


def session_run(turns: JudgedSet, n: int = 10) -> dict[str, dict[str, float]]:
    """The best sessions for each question of *turns*, cut as the daemon cuts conversations."""
    sessions: dict[str, list[Text]] = defaultdict(list)
    for turn in turns.texts:
        sessions[session_of(turn.id)].append(turn)
    names = list(sessions)
    lane = Lane(*numbered(searchable(conversation(name, sessions[name])) for name in names))
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
