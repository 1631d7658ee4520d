"""Making trees of files, and scanning them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from twolaned.ingest.folder import FileState, FoundDocument, Unchanged, scan_folder
from twolaned.ingest.limits import IngestLimits
from twolaned.model.document import Document
from twolaned.model.report import Skip

LONG_AGO = 1_700_000_000
_NOBODYS_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Scan:
    """All that one scan gave."""

    def __init__(
        self,
        root: Path,
        known: dict[str, FileState] | None = None,
        exclude: Iterable[str] = (),
        limits: IngestLimits | None = None,
    ) -> None:
        self.documents: dict[str, Document] = {}
        self.states: dict[str, FileState] = {}
        self.unchanged: list[str] = []
        self.batches: list[int] = []
        self.skips: dict[str, set[str]] = {}
        for item in scan_folder(
            root, exclude=tuple(exclude), limits=limits or IngestLimits(), known=known or {}
        ):
            match item:
                case FoundDocument():
                    self.documents[item.document.path] = item.document
                    self.states[item.document.path] = item.state
                case Unchanged():
                    self.unchanged += item.paths
                    self.batches.append(len(item.paths))
                case Skip():
                    self.skips.setdefault(item.reason, set()).add(item.where)


def write(root: Path, files: dict[str, str | bytes], *, aged: bool = True) -> None:
    """Write *files*, *aged* with a time long before any scan."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if aged:
            os.utime(path, (LONG_AGO, LONG_AGO))


def git(root: Path, *arguments: str) -> str:
    """What git says, whatever the configuration of this machine."""
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **_NOBODYS_GIT},
    )
    return done.stdout
