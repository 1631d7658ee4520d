from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.rooms import DAEMON, ROOT, modules

MAX_LINES = 450

CODE = ("daemon", "clients/python", "bench", "scripts", "samples")


def code_files() -> Iterator[Path]:
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if not file.stem.endswith(("_pb2", "_pb2_grpc")):
                yield file


def test_modules_are_short() -> None:
    """A module that grows past 450 lines has more than one noun in it."""
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for file in code_files()
    }

    assert {} == {name: lines for name, lines in lengths.items() if lines > MAX_LINES}


def test_the_daemon_does_not_print() -> None:
    """The daemon logs; its standard output may be a supervisor's or a pipe of frames."""
    printing = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for _, file in modules(DAEMON)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]

    assert [] == printing


def test_every_package_says_what_it_is() -> None:
    """Each room's docstring is where a reader starts."""
    silent = [
        name
        for name, file in modules(DAEMON)
        if file.name == "__init__.py"
        and not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ]

    assert [] == silent
