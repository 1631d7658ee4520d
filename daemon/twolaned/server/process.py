"""What the system knows of this process. Linux tells; elsewhere the answers are less."""

from __future__ import annotations

import os
import time
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version
from pathlib import Path

_IMPORTED = time.monotonic()


def version() -> str:
    """The version of twolane."""
    try:
        return _version("twolane")
    except PackageNotFoundError:
        return "unknown"


def age() -> float:
    """Seconds since this process was started; where the system does not tell, since it got here."""
    try:
        # The name, in parentheses, may hold anything.
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        started = int(fields.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, AttributeError):
        return time.monotonic() - _IMPORTED


def anonymous_memory() -> int:
    """Bytes of memory of this process that no file backs; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0
