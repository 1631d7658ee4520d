"""What ``twolane doctor`` looks at, in order. Nothing here changes anything."""

from __future__ import annotations

import os
import platform
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from twolane import control, launch, paths
from twolane.cli import phrases
from twolane.client import Client
from twolane.connection import (
    PROTOCOL,
    NeedsRestart,
    Probe,
    Unreachable,
    health,
    probe,
    version,
)
from twolane.errors import TwolaneError
from twolane.v1.admin_service_pb2 import StatusResponse

SERVICES = (
    "twolane.v1.SearchService",
    "twolane.v1.ArchiveService",
    "twolane.v1.SourceService",
)
"""The services whose health is asked for, beside that of the whole."""

LITTLE_SPACE = 1 << 30
"""Bytes free below which imports may soon stop."""

LAST_WORD = ": stopped"
"""What the log of a daemon that was stopped in order ends with."""

NO_SPACE = 64 << 20
"""Bytes free below which nothing can be written safely."""


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; *hint* says what to do where it is not well."""

    id: str
    verdict: Verdict
    message: str
    hint: str = ""


def run(socket: Path) -> Iterator[Check]:
    """Yield every check, the cheap and basic ones first."""
    yield _client()
    yield _config(paths.config_path(os.environ))
    data = paths.data_dir(os.environ).absolute()
    yield _data_folder(data)
    if data.exists():
        yield _space("disk", shutil.disk_usage(data).free, data)
    found = probe(socket)
    yield _socket(socket, isinstance(found, Unreachable) and found.absent)
    yield _lock(found)
    yield _daemon(found)
    if not isinstance(found, Unreachable):
        yield _protocol(found)
        yield _health(socket)
        yield from _state(found.status)
        yield from _sources(socket)


def _client() -> Check:
    python = platform.python_version()
    where = f"{platform.system()} {platform.machine()}"
    return Check("client", Verdict.OK, f"twolane {version()}, Python {python}, {where}")


def _config(path: Path) -> Check:
    try:
        with path.open("rb") as file:
            keys = len(tomllib.load(file))
    except FileNotFoundError:
        return Check("config", Verdict.OK, f"{path} does not exist; the defaults are in force")
    except OSError as error:
        hint = "Make it readable to you, or set TWOLANE_CONFIG to another file."
        return Check("config", Verdict.FAIL, f"{path} cannot be read: {error.strerror}", hint)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = "Repair this place; the daemon refuses to start with a file that it cannot read."
        return Check("config", Verdict.FAIL, f"{path} is not TOML: {error}", hint)
    return Check("config", Verdict.OK, f"{path} ({phrases.count(keys, 'section')})")


def _data_folder(data: Path) -> Check:
    if not data.exists():
        hint = "It is made when the daemon starts: run `twolane up`."
        return Check("data", Verdict.WARN, f"{data} does not exist yet", hint)
    return _private_folder("data", data)


def _private_folder(id: str, folder: Path) -> Check:  # noqa: A002  the check's own name
    fault = paths.fault_of_folder(folder.resolve())
    if fault is None:
        return Check(id, Verdict.OK, f"{folder} (yours alone)")
    hint = f"Run `chmod 700 {folder}` if it is yours; else set TWOLANE_DATA and TWOLANE_SOCKET."
    return Check(id, Verdict.FAIL, f"{folder} {fault}", hint)


def _space(id: str, free: int, where: Path | str) -> Check:  # noqa: A002  the check's own name
    message = f"{phrases.size(free)} free at {where}"
    if free < NO_SPACE:
        return Check(id, Verdict.FAIL, message, "Make room: nothing can be kept without it.")
    if free < LITTLE_SPACE:
        return Check(id, Verdict.WARN, message, "Make room before a large import.")
    return Check(id, Verdict.OK, message)


def _socket(socket: Path, absent: bool) -> Check:
    length = len(os.fsencode(socket))
    if length > paths.MAX_SOCKET_BYTES:
        hint = "Set TWOLANE_SOCKET to a shorter path."
        why = f"{socket} has {length} bytes; a socket's path has at most {paths.MAX_SOCKET_BYTES}"
        return Check("socket", Verdict.FAIL, why, hint)
    if not socket.parent.exists():
        return Check("socket", Verdict.OK, f"{socket} is not there yet")
    folder = _private_folder("socket", socket.parent)
    if folder.verdict is not Verdict.OK:
        return folder
    if socket.exists() and absent:
        return Check("socket", Verdict.OK, f"{socket} is left over; the next start replaces it")
    return Check("socket", Verdict.OK, f"{socket} (folder yours alone)")


def _lock(found: Probe) -> Check:
    lock = control.daemon_lock()
    try:
        holder = control.lock_holder(lock)
    except OSError as error:
        return Check("lock", Verdict.FAIL, f"{lock} cannot be read: {error.strerror}")
    if holder is None:
        if isinstance(found, Unreachable):
            return Check("lock", Verdict.OK, "nobody holds the data folder")
        hint = "TWOLANE_DATA or TWOLANE_SOCKET names another daemon's: set both, or neither."
        return Check("lock", Verdict.WARN, "the daemon that answers has another data folder", hint)
    who = holder.text or "a process that does not say who it is"
    if isinstance(found, Unreachable):
        hint = "`twolane daemon stop --force` ends it."
        return Check("lock", Verdict.FAIL, f"held by {who}, which does not answer", hint)
    return Check("lock", Verdict.OK, f"held by {who}")


def _daemon(found: Probe) -> Check:
    if not isinstance(found, Unreachable):
        status = found.status
        up = phrases.span(phrases.seconds(status.uptime))
        message = f"twolane {status.version}, process {status.pid}, up {up}"
        return Check("daemon", Verdict.OK, message)
    if not found.absent:
        hint = "`twolane daemon restart --force` starts it anew."
        return Check("daemon", Verdict.FAIL, found.error.message, hint)
    log = launch.log_tail(launch.log_path())
    said = f" Its log {launch.log_path()} ends with: {log[-1]}" if log else ""
    hint = f"Start it with `twolane daemon start`.{said}"
    broke = log and not log[-1].endswith(LAST_WORD)
    message = "it does not run" + (", and its last run did not end in order" if broke else "")
    return Check("daemon", Verdict.WARN, message, hint)


def _protocol(found: Probe) -> Check:
    if isinstance(found, NeedsRestart):
        verdict = Verdict.WARN if found.compatible else Verdict.FAIL
        return Check("protocol", verdict, found.reason, "Run `twolane daemon restart`.")
    return Check("protocol", Verdict.OK, f"both sides speak protocol {PROTOCOL}")


def _health(socket: Path) -> Check:
    said = {name or "the daemon": health(socket, name) for name in ("", *SERVICES)}
    ailing = [
        f"{name} is {how.replace('_', ' ')}" for name, how in said.items() if how != "serving"
    ]
    if not ailing:
        return Check("health", Verdict.OK, "it says that it serves")
    hint = "If it stays so, run `twolane daemon restart`."
    return Check("health", Verdict.FAIL, ", ".join(ailing), hint)


def _state(status: StatusResponse) -> Iterator[Check]:
    used = phrases.size(status.disk_bytes)
    rows = phrases.count(sum(tier.rows for tier in status.tiers), "row")
    segments = phrases.count(status.segments, "segment")
    yield Check(
        "store", Verdict.OK, f"format {status.format_version}, {rows}, {segments}, {used} on disk"
    )
    if status.HasField("uptime") and status.data_path:
        yield _space("store-disk", status.disk_free_bytes, status.data_path)
    for lane in status.lanes:
        verdict = Verdict.FAIL if lane.state == "failing" else Verdict.OK
        message = phrases.joined((lane.state, lane.message))
        yield Check(f"lane-{lane.lane}", verdict, message)
    verdict = {"running": Verdict.OK, "restarting": Verdict.WARN}.get(
        status.writer_state, Verdict.FAIL
    )
    hint = "" if verdict is Verdict.OK else "Searches work; imports and saves wait for it."
    doing = phrases.joined((status.writer_state or "unknown", status.writer_activity))
    yield Check("writer", verdict, doing, hint)
    if status.recent_errors:
        newest = status.recent_errors[0]
        number = phrases.count(len(status.recent_errors), "error")
        message = f"{number}, the newest in {newest.where}: {newest.message}"
        yield Check("errors", Verdict.WARN, message, "`twolane status` shows them all.")
    else:
        yield Check("errors", Verdict.OK, "none since the start")
    if status.next_action:
        yield Check("next", Verdict.WARN, status.next_action)


def _sources(socket: Path) -> Iterator[Check]:
    try:
        with Client(socket) as client:
            sources = list(client.sources())
    except TwolaneError as error:
        yield Check("sources", Verdict.FAIL, error.message)
        return
    bad = [source for source in sources if source.last_error]
    if not bad:
        yield Check("sources", Verdict.OK, f"{phrases.count(len(sources), 'folder')} followed")
    for source in bad:
        hint = "If the folder is gone for good, run `twolane source remove` with its path."
        yield Check("sources", Verdict.WARN, f"{source.path}: {source.last_error}", hint)
