"""The rooms and the imports between them, read from ARCHITECTURE.md and from the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DAEMON = ROOT / "daemon" / "twolaned"
CLIENT = ROOT / "clients" / "python" / "twolane"

_BLOCK = re.compile(r"^```rooms\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Room:
    """A room: its level, counted from the top, and the reserved modules that it may use."""

    name: str
    level: int
    may_use: frozenset[str]


@dataclass(frozen=True)
class Import:
    """One imported module, by its full dotted name, and where it is imported."""

    module: str
    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def documented_rooms() -> dict[str, Room]:
    """The rooms of ARCHITECTURE.md's ``rooms`` block by name; rooms on one line share a level."""
    block = _BLOCK.search((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert block is not None, "ARCHITECTURE.md has no ```rooms block"
    rooms = {}
    for level, line in enumerate(block.group(1).splitlines()):
        names, _, uses = line.partition(":")
        for name in names.split():
            rooms[name] = Room(name, level, frozenset(uses.split()))
    return rooms


def modules(package: Path) -> Iterator[tuple[str, Path]]:
    """The dotted name and file of every module below *package*, generated code left out."""
    for file in sorted(package.rglob("*.py")):
        if file.stem.endswith(("_pb2", "_pb2_grpc")):
            continue
        parts = (package.name, *file.relative_to(package).with_suffix("").parts)
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def imports(name: str, file: Path) -> Iterator[Import]:
    """Everything that the module *name* imports, inside functions and for type checkers as well.

    ``from package import name`` counts as both ``package`` and ``package.name``, since either may
    be the module.
    """
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Import(alias.name, file, node.lineno)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                source = ".".join([*base, *([module] if module else [])])
                yield Import(source, file, node.lineno)
                for alias in names:
                    yield Import(f"{source}.{alias.name}", file, node.lineno)
            case ast.Call(
                func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(target))]
            ):
                yield Import(target, file, node.lineno)


def room_of(module: str, rooms: dict[str, Room]) -> Room | None:
    """The room that the dotted name *module* lies in, or None."""
    parts = module.split(".")
    if parts[0] != DAEMON.name:
        return None
    names = (".".join(parts[1 : end + 1]) for end in range(len(parts) - 1, 0, -1))
    return next((rooms[name] for name in names if name in rooms), None)
