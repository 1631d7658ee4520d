"""What git says of files: asked once for each state of a repository's index."""

from __future__ import annotations

import logging
import math
import os
import shutil
import subprocess
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

TIMEOUT: Final = 3.0
"""Seconds that git may take to list a repository's files."""
KEPT_REPOSITORIES: Final = 16
KEPT_FOLDERS: Final = 4_096
ASKED_AGAIN: Final = 60.0
"""Seconds after which git is asked again about a repository whose files it could not list."""


class FileState(StrEnum):
    """What is known of a file. The last two say that its kind alone can be judged."""

    TRACKED = "tracked"
    UNTRACKED = "untracked"
    DELETED = "deleted"
    NO_REPOSITORY = "no_repository"
    GIT_UNAVAILABLE = "git_unavailable"


@dataclass(frozen=True, slots=True)
class _Listing:
    stamp: tuple[int, int, int]
    files: frozenset[str] | None
    until: float
    """Seconds of the monotonic clock at which it is to be asked for again."""


class GitStates:
    """Tells files that git tracks from those that it does not. Safe from any thread.

    The nearest repository upwards counts: a worktree and a submodule have an index of their own.
    *git* is the program; None means that there is none. *clock* counts seconds.
    """

    def __init__(
        self,
        git: str | None = None,
        *,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._git = git
        self._timeout = timeout
        self._clock = clock
        self._listings: OrderedDict[str, _Listing] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def of_machine(cls) -> GitStates:
        """With the git on ``PATH``, if there is one."""
        return cls(shutil.which("git"))

    def reader(self) -> GitReader:
        """Answers for one pack: what it has asked once it does not ask again."""
        return GitReader(self)

    def tracked(self, top: str) -> frozenset[str] | None:
        """The paths below the repository folder *top* that git tracks, None where it cannot say."""
        stamp = _stamp(top)
        if self._git is None or stamp is None:
            return None
        with self._lock:
            known = self._listings.get(top)
            if known is not None and known.stamp == stamp and self._clock() < known.until:
                self._listings.move_to_end(top)
                return known.files
        files = self._list(self._git, top)
        # A failure passes, such as that of a busy machine, though the index stays as it is.
        until = math.inf if files is not None else self._clock() + ASKED_AGAIN
        with self._lock:
            self._listings[top] = _Listing(stamp, files, until)
            self._listings.move_to_end(top)
            if len(self._listings) > KEPT_REPOSITORIES:
                self._listings.popitem(last=False)
        return files

    def _list(self, git: str, top: str) -> frozenset[str] | None:
        # A repository's own configuration must not get to run anything.
        fixed = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
        command = [git, "--no-optional-locks", *fixed, "-C", top, "ls-files", "-z", "--cached"]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._timeout,
                check=False,
                env=_environment(),
            )
        except (OSError, subprocess.TimeoutExpired) as e:
            log.warning("git did not list the files of a repository: %s", type(e).__name__)
            return None
        if done.returncode:
            log.info("git refused to list the files of a repository: exit %d", done.returncode)
            return None
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return frozenset(filter(None, names))


class GitReader:
    """The states of files as one pack sees them. Belongs to one thread."""

    def __init__(self, states: GitStates) -> None:
        self._states = states
        self._tops: dict[str, str | None] = {}
        self._tracked: dict[str, frozenset[str] | None] = {}

    def state(self, path: str) -> FileState:
        """The state of the file *path*, which is absolute."""
        folder, _, name = path.rpartition("/")
        exists = _exists(path)
        top = self.top_of(folder or "/")
        if top is None:
            return FileState.NO_REPOSITORY if exists else FileState.DELETED
        tracked = self.tracked(top)
        if not exists:
            return FileState.DELETED
        if tracked is None:
            return FileState.GIT_UNAVAILABLE
        below = f"{folder}/{name}"[len(top.rstrip("/")) + 1 :]
        if below in tracked or (not below.isascii() and below in _composed(tracked)):
            return FileState.TRACKED
        return FileState.UNTRACKED

    def tracked(self, top: str) -> frozenset[str] | None:
        """The tracked paths below the repository folder *top*."""
        if top not in self._tracked:
            self._tracked[top] = self._states.tracked(top)
        return self._tracked[top]

    def top_of(self, folder: str) -> str | None:
        """The folder of the nearest repository at or above *folder*; None where there is none."""
        if folder in self._tops:
            return self._tops[folder]
        if os.path.lexists(f"{folder.rstrip('/')}/.git"):
            top: str | None = folder
        else:
            above = folder.rpartition("/")[0] or "/"
            top = None if above == folder else self.top_of(above)
        if len(self._tops) < KEPT_FOLDERS:
            self._tops[folder] = top
        return top


def _exists(path: str) -> bool:
    """Whether *path*, in composed Unicode, is there. What cannot be looked at counts as there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        folder, _, name = path.rpartition("/")
        if name.isascii():
            return False
        try:
            names = [entry.name for entry in Path(folder or "/").iterdir()]
        except OSError:
            return False
        return any(unicodedata.normalize("NFC", n) == name for n in names)
    except OSError:
        return True
    return True


def _composed(names: frozenset[str]) -> set[str]:
    return {unicodedata.normalize("NFC", name) for name in names if not name.isascii()}


def _stamp(top: str) -> tuple[int, int, int] | None:
    """What changes whenever the index of the repository at *top* does; None without an index."""
    mark = Path(top) / ".git"
    try:
        folder = mark
        if mark.is_file():
            said = mark.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
            folder = Path(top) / said
        found = (folder / "index").stat()
    except FileNotFoundError:
        # A repository in which nothing was ever added has no index and tracks nothing.
        return (0, 0, 0) if folder.is_dir() else None
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
