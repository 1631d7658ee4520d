"""Folders of agent sessions on this machine. Names and sizes are looked at, contents never."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that keeps sessions: the variable that moves its folder, and where they lie in it."""

    name: str
    variable: str
    home: str
    below: str
    ending: str


TOOLS = (Tool("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "projects", ".jsonl"),)
"""The tools whose sessions can be imported."""


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """A folder that holds *files* sessions of a tool, *size* bytes in all."""

    tool: str
    path: Path
    files: int
    size: int


def session_folders(env: Mapping[str, str], home: Path) -> Iterator[SessionFolder]:
    """Yield the session folders that there are, in the order of `TOOLS`."""
    seen: set[Path] = set()
    for tool in TOOLS:
        places = [home / tool.home]
        if env.get(tool.variable):
            places.insert(0, Path(env[tool.variable]))
        for place in places:
            folder = place / tool.below
            if folder.is_dir() and folder.resolve() not in seen:
                seen.add(folder.resolve())
                sizes = list(_sizes(folder, tool.ending))
                if sizes:
                    yield SessionFolder(tool.name, folder, len(sizes), sum(sizes))


def _sizes(folder: Path, ending: str) -> Iterator[int]:
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(ending):
                try:
                    yield (Path(place) / name).stat().st_size
                except FileNotFoundError:  # a tool that runs may remove its own files
                    continue
