"""What a process has written and synced, recorded by strace, and what a power cut leaves of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CALLS = "openat,lseek,write,writev,pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate"
STRACE = ("strace", "-f", "-y", "-xx", "-s", "100000000", "-e", f"trace={CALLS}")

_CALL = re.compile(r"^\d+\s+(\w+)\((.*)\)\s+= (-?\d+)")
_UNFINISHED = re.compile(r"^(\d+)\s+(\w+\(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"^(\d+)\s+<\.\.\. \w+ resumed>(.*)$")
_FD = re.compile(r"^(\d+)<([^>]*)>")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_OFFSET = re.compile(r", (\d+)$")


@dataclass
class _File:
    now: bytearray = field(default_factory=bytearray)
    synced: bytearray | None = None

    def write(self, at: int, data: bytes, *, at_once: bool) -> None:
        _put(self.now, at, data)
        if at_once:
            # Such a write takes only itself to the disk, and what is needed to read it back.
            if self.synced is None:
                self.synced = bytearray()
            _put(self.synced, at, data)


def _put(content: bytearray, at: int, data: bytes) -> None:
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    content[at : at + len(data)] = data


class Disk:
    """The files below *root* as a recording leaves them: all of it, and what has been synced."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._files: dict[str, _File] = {}
        self._places: dict[str, int] = {}
        self._at_once: set[str] = set()

    def replay(self, lines: Iterator[str]) -> Iterator[bytes]:
        """Apply a recording; yields what was written to pipes, the moment that it was."""
        for name, arguments, result in _calls(lines):
            descriptor = _FD.match(arguments)
            if name == "openat":
                self._open(arguments, result)
            elif descriptor is not None:
                path = _text(descriptor[2]) if "\\x" in descriptor[2] else descriptor[2]
                if path.startswith("pipe:") and name in ("write", "writev"):
                    yield _data(arguments)[:result]
                elif path.startswith(self._root):
                    self._apply(name, descriptor[1], path, arguments, result)

    def power_cut(self, target: Path) -> None:
        """Write what survives when everything that was not synced is lost."""
        for path, file in self._files.items():
            if file.synced is not None:
                place = target / Path(path).relative_to(self._root)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(bytes(file.synced))

    def _open(self, arguments: str, result: int) -> None:
        names = _STRING.findall(arguments)
        path = _text(names[-1]) if names else ""
        if not path.startswith(self._root) or "O_DIRECTORY" in arguments:
            return
        self._places[str(result)] = 0
        self._at_once.discard(str(result))
        if "O_DSYNC" in arguments:
            self._at_once.add(str(result))
        if "O_CREAT" in arguments:
            self._files.setdefault(path, _File())
        if "O_TRUNC" in arguments and path in self._files:
            self._files[path].now.clear()

    def _apply(self, name: str, fd: str, path: str, arguments: str, result: int) -> None:
        if name in ("fsync", "fdatasync"):
            file = self._files.get(path)
            if file is not None:
                file.synced = bytearray(file.now)
            return
        file = self._files.setdefault(path, _File())
        at_once = fd in self._at_once
        if name == "lseek":
            self._places[fd] = result
        elif name in ("pwrite64", "pwritev"):
            offset = _OFFSET.search(arguments)
            assert offset is not None, arguments[-80:]
            file.write(int(offset[1]), _data(arguments)[:result], at_once=at_once)
        elif name in ("write", "writev"):
            place = self._places.get(fd, 0)
            file.write(place, _data(arguments)[:result], at_once=at_once)
            self._places[fd] = place + result
        elif name == "ftruncate":
            size = int(arguments.rpartition(", ")[2])
            del file.now[size:]
            file.now.extend(bytes(size - len(file.now)))
        elif name == "fallocate":
            *_, offset, length = arguments.split(", ")
            end = int(offset) + int(length)
            file.now.extend(bytes(max(0, end - len(file.now))))


def _calls(lines: Iterator[str]) -> Iterator[tuple[str, str, int]]:
    waiting: dict[str, str] = {}
    for line in lines:
        if (begun := _UNFINISHED.match(line)) is not None:
            waiting[begun[1]] = begun[2]
            continue
        if (ended := _RESUMED.match(line)) is not None:
            line = f"{ended[1]} {waiting.pop(ended[1], '')}{ended[2]}"
        call = _CALL.match(line)
        if call is not None and int(call[3]) >= 0:
            yield call[1], call[2], int(call[3])


def _data(arguments: str) -> bytes:
    return b"".join(bytes.fromhex(part.replace("\\x", "")) for part in _STRING.findall(arguments))


def _text(escaped: str) -> str:
    return bytes.fromhex(escaped.replace("\\x", "")).decode()
