"""Projects with a git history, made in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.invalid",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in *folder*."""
    program = shutil.which("git")
    assert program is not None
    done = subprocess.run(
        [program, "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


class Repository:
    """A repository at *folder*, which is made."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        git(folder, "init", "-q", "-b", "main")

    def write(self, path: str, text: str) -> None:
        """Write a file and no more."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def commit(self, files: dict[str, str], message: str = "Change") -> None:
        """Write *files*, add all that is there and commit."""
        for path, text in files.items():
            self.write(path, text)
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "--allow-empty", "-m", message)
