"""The figures as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Figures = dict[str, Any]

_ROWS = (
    "rare",
    "question",
    "common",
    "phrase",
    "all searches",
    "first message",
    "open",
    "save",
    "ping",
)


def markdown(figures: Figures) -> str:
    """Everything that a reader compares, in four tables."""
    parts = [
        "\n".join(_table(("What", "Figure"), _single(figures))),
        "Over the socket, one client, nothing else running (ms):",
        "\n".join(_latencies(figures["after_restart"])),
        "The same while an import runs (ms):",
        "\n".join(_latencies(figures["during_import"])),
    ]
    return "\n\n".join(parts) + "\n"


def _single(figures: Figures) -> list[tuple[str, str]]:
    imported, idle, crowd = figures["import"], figures["idle"], figures["crowd"]
    text, disk, speed = imported["text_bytes"], figures["disk"], imported["passages_per_s"]
    busy = figures["during_import"]["import"]["mb_per_s"]
    return [
        ("rows, passages", f"{imported['rows']:,}, {imported['passages']:,}"),
        ("import", f"{imported['seconds']:.1f} s for {_mb(text)} of text"),
        ("import rate", f"{imported['mb_per_s']:.1f} MB/s, {speed:,.0f} passages/s"),
        ("import rate while searches run", f"{busy:.1f} MB/s"),
        ("disk", f"{_mb(disk)}, {disk / text:.2f} × the text"),
        ("start to first answer", f"{figures['first_answer_s']:.2f} s"),
        ("start to first answer, empty store", f"{figures['empty_first_answer_s']:.2f} s"),
        ("anonymous memory when idle", _roles(idle["anonymous_memory"], _mb)),
        ("most resident memory during the import", _roles(imported["peak_memory"], _mb)),
        (f"CPU in {idle['seconds']:.0f} idle seconds", _roles(idle["cpu_ms"], _ms)),
        (f"{crowd['clients']} clients at once", f"{crowd['searches_per_s']:,.0f} searches/s"),
        (f"one search among {crowd['clients']} clients", _percentiles(crowd)),
        ("LMDB commit of 4 KB in the same run", _percentiles(figures["commit_ms"])),
    ]  # fmt: skip


def _percentiles(spread: Figures) -> str:
    return f"p50 {spread['p50']:.2f} ms, p95 {spread['p95']:.2f} ms"


def _roles(values: dict[str, float], show: Callable[[float], str]) -> str:
    return ", ".join(f"{role} {show(value)}" for role, value in values.items())


def _mb(size: float) -> str:
    return f"{size / 1e6:.0f} MB"


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms"


def _latencies(figures: Figures) -> list[str]:
    rows = []
    for name in _ROWS:
        row = figures.get(name, {"count": 0})
        if row["count"]:
            cells = (f"{row[p]:.2f}" for p in ("p50", "p95", "p99", "max"))
            rows.append((name, *cells, f"{row['count']:,}"))
    return _table(("Call", "p50", "p95", "p99", "max", "samples"), rows)


def _table(head: tuple[str, ...], rows: list[Any]) -> list[str]:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return [lines[0], "|" + " --- |" * len(head), *lines[1:]]
