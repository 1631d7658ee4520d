"""The one thing that a person should do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from twolaned.model.source import Source

LOW_DISK = 1 << 30
"""Bytes free below which the next import may well fill the disk."""


def next_action(
    *,
    search_fault: str,
    writer_state: str,
    writer_activity: str,
    disk_free: int,
    data: Path,
    sources: Sequence[Source],
    rows: int,
) -> str:
    """A sentence with the most pressing thing to do; empty if all is well."""
    if search_fault:
        return f"{search_fault} Run `twolane doctor`."
    if writer_state != "running":
        return (
            "Nothing new can be stored: the writer process is not running. It is started again by"
            " itself; if that does not help, look into the log and run `twolane daemon restart`."
        )
    if disk_free < LOW_DISK:
        return f"Free some space: the disk of {data} has {disk_free >> 20:,} MiB left."
    failed = next((source for source in sources if source.last_error), None)
    if failed is not None:
        return f"Look at the source {failed.path}: {failed.last_error}"
    if writer_activity:
        return ""
    waiting = next((source for source in sources if source.last_scanned_at is None), None)
    if waiting is not None:
        return f"Read {waiting.path} for the first time: `twolane source scan`."
    if not rows:
        return "Import your history: `twolane import PATH`."
    return ""
