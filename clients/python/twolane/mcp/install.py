"""Sets the bridge up in an agent's configuration: all of it or nothing, with a copy kept."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from twolane.errors import Refused, TryAgain
from twolane.mcp import splice
from twolane.mcp.agents import SERVER, Agent

_BOM = "\ufeff"

_MODE = 0o600
"""Of a configuration that is made: others' entries may come to hold keys."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a configuration, or would. *backup* is the copy of what it was."""

    file: Path
    changed: bool
    diff: str
    backup: Path | None = None


def install(agent: Agent, entry: dict[str, object], *, dry_run: bool = False) -> Change:
    """Put *entry* into the configuration of *agent*. Raises Refused, TryAgain, OSError."""
    edit = splice.set_json if agent.form == "json" else splice.set_toml
    return _edit(agent, lambda text: edit(text, agent.table, SERVER, entry), entry, dry_run=dry_run)


def uninstall(agent: Agent, *, dry_run: bool = False) -> Change:
    """Take the entry out of the configuration of *agent*. Raises Refused, TryAgain, OSError."""
    edit = splice.remove_json if agent.form == "json" else splice.remove_toml
    return _edit(agent, lambda text: edit(text, agent.table, SERVER), None, dry_run=dry_run)


def snippet(agent: Agent, entry: dict[str, object]) -> str:
    """Return *entry* as a person would add it by hand."""
    if agent.form == "json":
        return json.dumps({agent.table: {SERVER: entry}}, indent=2, ensure_ascii=False)
    return splice.set_toml("", agent.table, SERVER, entry).strip()


def _edit(
    agent: Agent,
    edit: Callable[[str], str],
    entry: dict[str, object] | None,
    *,
    dry_run: bool,
) -> Change:
    # A link, as people have who keep their configuration elsewhere, stays one.
    file = agent.file.resolve()
    before = _read(file)
    try:
        text = before.decode("utf-8") if before is not None else ""
        marked = text.startswith(_BOM)
        after = edit(text.removeprefix(_BOM))
    except (Refused, UnicodeDecodeError) as error:
        why = error.message if isinstance(error, Refused) else "it is not UTF-8 text"
        by_hand = f" Add this yourself:\n{snippet(agent, entry)}" if entry is not None else ""
        raise Refused(
            f"{file} was left as it is: {why}.{by_hand}",
            reason="CONFIG_UNREADABLE",
            metadata={"path": str(file)},
        ) from None
    after = _BOM + after if marked else after
    data = after.encode("utf-8")
    if data == (before or b""):
        return Change(file, changed=False, diff="")
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), after.splitlines(keepends=True), str(file), str(file)
    )
    diff = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    if dry_run:
        return Change(file, changed=True, diff=diff)
    backup = None
    if before is not None:
        backup = _backup(file, before)
    _replace(file, before, data)
    return Change(file, changed=True, diff=diff, backup=backup)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _backup(file: Path, data: bytes) -> Path:
    """Keep *data* beside *file* under a name that is free."""
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        more = f"-{number}" if number else ""
        backup = file.with_name(f"{file.name}.{stamp}{more}.bak")
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        return backup


def _replace(file: Path, before: bytes | None, data: bytes) -> None:
    """Let *file* hold *data* from one moment to the next. Raises TryAgain if it has changed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = file.stat().st_mode & 0o777 if before is not None else _MODE
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fchmod(opened.fileno(), mode)
            os.fsync(opened.fileno())
        _require_same(file, before)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _require_same(file: Path, before: bytes | None) -> None:
    if _read(file) != before:
        raise TryAgain(
            f"{file} was changed by another program meanwhile. Run this again.",
            reason="CONFIG_CHANGED",
        )
