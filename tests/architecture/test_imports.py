from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rooms import (
    CLIENT,
    DAEMON,
    Import,
    documented_rooms,
    imports,
    modules,
    room_of,
)

ROOMS = documented_rooms()

RESERVED = {
    "grpc": "grpc",
    "grpc_health": "grpc",
    "grpc_reflection": "grpc",
    "grpc_status": "grpc",
    "google": "protobuf",
    "twolane.v1": "protobuf",
    "twolane": "twolane",
    "lmdb": "lmdb",
}
"""Modules that only the rooms which ARCHITECTURE.md names for them may use."""

FILES = ("io", "lmdb", "mmap", "os", "pathlib", "shutil", "sqlite3", "tempfile")
"""What the model must not know."""

OUTSIDE = {"twolaned", "twolaned.__main__", "twolaned.lanes"}
"""Modules that hold rooms and belong to none."""


def found(package: Path) -> list[tuple[str, Import]]:
    return [(name, i) for name, file in modules(package) for i in imports(name, file)]


def is_or_is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def kind_of(module: str) -> str | None:
    reserved = [name for name in RESERVED if is_or_is_in(module, name)]
    return RESERVED[max(reserved, key=len)] if reserved else None


def test_the_rooms_are_those_on_disk() -> None:
    """ARCHITECTURE.md names every room of the daemon and no other."""
    on_disk = {
        ".".join(folder.relative_to(DAEMON).parts)
        for pattern in ("*/__init__.py", "lanes/*/__init__.py")
        for folder in (file.parent for file in DAEMON.glob(pattern))
    } - {"lanes"}

    assert on_disk <= set(ROOMS)


def test_every_module_lies_in_a_room() -> None:
    """No module of the daemon stands outside the rooms."""
    outside = {name for name, _ in modules(DAEMON) if room_of(name, ROOMS) is None}

    assert outside <= OUTSIDE


def test_imports_only_point_down() -> None:
    """A room imports itself and rooms below it, also inside functions."""
    wrong = []
    for name, imported in found(DAEMON):
        here, there = room_of(name, ROOMS), room_of(imported.module, ROOMS)
        if here and there and here != there and there.level <= here.level:
            wrong.append(str(imported))

    assert [] == wrong


def test_modules_that_hold_rooms_import_none() -> None:
    """The packages above the rooms do not tie them together."""
    wrong = [
        str(i)
        for name, i in found(DAEMON)
        if name in OUTSIDE - {"twolaned.__main__"} and i.module.startswith("twolaned")
    ]

    assert [] == wrong


@pytest.mark.parametrize("kind", sorted(set(RESERVED.values())))
def test_reserved_modules_stay_where_they_belong(kind: str) -> None:
    """gRPC, protobuf, LMDB and the client package are used only where ARCHITECTURE.md says so."""
    wrong = []
    for name, imported in found(DAEMON):
        room = room_of(name, ROOMS)
        if kind_of(imported.module) == kind and (room is None or kind not in room.may_use):
            wrong.append(str(imported))

    assert [] == wrong


def test_what_a_room_may_use_is_a_known_kind() -> None:
    """The block in ARCHITECTURE.md has no word that this test would pass over."""
    assert set().union(*(room.may_use for room in ROOMS.values())) <= set(RESERVED.values())


def test_the_model_knows_no_files() -> None:
    """The model imports nothing that opens, names or maps a file."""
    wrong = [
        str(i)
        for name, i in found(DAEMON)
        if is_or_is_in(name, "twolaned.model") and i.module.split(".")[0] in FILES
    ]

    assert [] == wrong


def test_the_client_knows_nothing_of_the_daemon() -> None:
    """The client package speaks to the daemon over the API alone, and stays light to import."""
    heavy = ("twolaned", "numpy", "lmdb")
    wrong = [str(i) for _, i in found(CLIENT) if i.module.split(".")[0] in heavy]

    assert [] == wrong


def test_an_upward_import_would_be_seen(tmp_path: Path) -> None:
    """The reader of imports sees relative, nested and dynamic ones."""
    package = tmp_path / "twolaned"
    (package / "store").mkdir(parents=True)
    file = package / "store" / "env.py"
    file.write_text(
        "from . import rows\n"
        "def f():\n    from ..search import engine\n"
        "import importlib\nimportlib.import_module('twolaned.server')\n",
        encoding="utf-8",
    )

    seen = {i.module for i in imports("twolaned.store.env", file)}

    assert {"twolaned.store.rows", "twolaned.search.engine", "twolaned.server"} <= seen
    assert "search" == room_of("twolaned.search.engine", ROOMS).name  # type: ignore[union-attr]
