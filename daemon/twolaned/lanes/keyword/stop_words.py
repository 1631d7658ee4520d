"""English words that say nothing about what a question is about."""

from __future__ import annotations

from importlib.resources import files


def _load() -> frozenset[str]:
    lines = files(__package__).joinpath("stop_words.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


STOP_WORDS = _load()
"""Folded. Left out of questions only, so that every word of a text stays findable."""
