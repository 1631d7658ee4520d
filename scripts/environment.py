"""Makes and updates the virtual environment that the scripts use.

Usage: environment.py VENV run|dev

Runs on a bare Python, so it imports nothing but the standard library. Skips all work while the
interpreter, pyproject.toml and what was asked for are those of the last time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INSTALL = {
    "run": ["-e", "."],
    "dev": ["--group", "dev", "-e", ".[builtin,mcp,ollama,ui,voyage]"],
}
"""What pip is given. The groups of pyproject.toml need pip 25.1 or newer."""


def fingerprint() -> str:
    """What the environment is made from, as a digest."""
    parts = (sys.version, str(ROOT), (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def is_current(folder: Path, wanted: str, digest: str) -> bool:
    """Whether *folder* holds all of *wanted*. A development environment can also run."""
    try:
        kind, stamp = (folder / "twolane.stamp").read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return False
    return stamp == digest and kind in (wanted, "dev") and (folder / "bin" / "python").exists()


def build(folder: Path, wanted: str, digest: str) -> None:
    """Install *wanted* into *folder*, making it where it is missing or of another Python."""
    stamp = folder / "twolane.stamp"
    stamp.unlink(missing_ok=True)
    python = folder / "bin" / "python"
    if not runs_this_version(python):
        say(f"Making {folder} with Python {sys.version.split()[0]}.")
        try:
            venv.create(folder, clear=True, with_pip=True, symlinks=True)
        except subprocess.CalledProcessError:
            sys.exit(
                "This Python cannot make virtual environments. On Debian and Ubuntu: "
                "apt-get install python3-venv"
            )
    say("Installing twolane and what it needs; this takes a minute the first time.")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for arguments in (["--upgrade", "pip"], INSTALL[wanted]):
        done = subprocess.run([*pip, *arguments], cwd=ROOT, stdout=sys.stderr, check=False)
        if done.returncode:
            sys.exit("Installing failed; pip says why above. Nothing outside .venv was changed.")
    stamp.write_text(f"{wanted} {digest}\n", encoding="utf-8")


def runs_this_version(python: Path) -> bool:
    """Whether *python* starts, has pip and is of this interpreter's minor version."""
    if not python.exists():
        return False
    check = f"import pip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    return (
        subprocess.run([str(python), "-c", check], check=False, capture_output=True).returncode == 0
    )


def say(line: str) -> None:
    """Tell the person, on standard error: standard output belongs to the caller."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Bring the environment up to date, one process at a time."""
    folder, wanted = Path(sys.argv[1]), sys.argv[2]
    os.chdir(ROOT)
    lock = os.open(folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    digest = fingerprint()
    if not is_current(folder, wanted, digest):
        build(folder, wanted, digest)


if __name__ == "__main__":
    main()
