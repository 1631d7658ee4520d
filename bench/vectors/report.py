"""The figures as a Markdown table and as a plot."""

from __future__ import annotations

import math
from html import escape
from typing import Any

Figures = list[dict[str, Any]]

_HEAD = (
    "Method", "CPU p50", "CPU p95", "all rounds p50", "all rounds p95", "wall p50", "CPU / wall",
    "recall@30", "worst", "build CPU s", "anonymous MB", "mapped MB",
)  # fmt: skip
_WIDTH, _HEIGHT, _MARGIN = 860, 420, 60
_COLOURS = ("#1b6ca8", "#c1440e", "#3d7a37", "#7a4fa3", "#8a6d00", "#5a5a5a", "#a8326e")

_OPENING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    ' font-family="sans-serif" font-size="11">'
)


def markdown(figures: Figures, rounds: int) -> str:
    """One table for each data set. CPU is each question's best of *rounds*."""
    parts = []
    for data in dict.fromkeys(f["data"] for f in figures):
        of_it = [f for f in figures if f["data"] == data]
        done = sorted((f for f in of_it if "missing" not in f), key=lambda f: f["quiet_cpu_p50"])
        lines = [f"### {data} (ms; CPU: each question's best of {rounds})", ""]
        lines += ["| " + " | ".join(_HEAD) + " |", "|" + " --- |" * len(_HEAD)]
        lines += ["| " + " | ".join(_cells(f)) + " |" for f in done]
        lines += [f"\nNot run: {f['contestant']} ({f['missing']})" for f in of_it if "missing" in f]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _cells(figure: dict[str, Any]) -> tuple[str, ...]:
    times = ("quiet_cpu_p50", "quiet_cpu_p95", "cpu_p50", "cpu_p95", "wall_p50", "cpu_share")
    return (
        figure["contestant"],
        *(f"{figure[name]:.2f}" for name in times),
        f"{figure['recall']:.4f}",
        f"{figure['worst']:.3f}",
        f"{figure['build_cpu_s']:.1f}",
        str(figure.get("RssAnon", "")),
        str(figure.get("RssFile", "")),
    )


def plot(figures: Figures) -> str:
    """An SVG: milliseconds of CPU to the right on a logarithmic scale, recall upwards."""
    done = [f for f in figures if "missing" not in f and "filter" not in f["contestant"]]
    low = math.floor(math.log10(min(f["quiet_cpu_p50"] for f in done)))
    high = math.ceil(math.log10(max(f["quiet_cpu_p50"] for f in done)))
    least = min(0.99, *(f["recall"] for f in done)) - 0.005

    def x(milliseconds: float) -> float:
        share = (math.log10(milliseconds) - low) / (high - low)
        return float(_MARGIN + share * (_WIDTH - 2 * _MARGIN))

    def y(recall: float) -> float:
        share = (recall - least) / (1 - least)
        return float(_HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN))

    bottom = _HEIGHT - _MARGIN
    out = [
        _OPENING,
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, _HEIGHT - 15, "CPU milliseconds a question, p50, one core"),
        _text(_MARGIN, 25, "recall@30"),
    ]
    for power in range(low, high + 1):
        place = x(10.0**power)
        out += [_line(place, _MARGIN, place, bottom), _text(place, bottom + 16, f"{10.0**power:g}")]
    for step in range(5):
        recall = least + (1 - least) * step / 4
        out += [
            _line(_MARGIN, y(recall), _WIDTH - _MARGIN, y(recall)),
            _text(28, y(recall) + 4, f"{recall:.3f}"),
        ]
    sets = list(dict.fromkeys(f["data"] for f in done))
    for number, data in enumerate(sets):
        colour = _COLOURS[number % len(_COLOURS)]
        out.append(_text(_WIDTH - 150, 20 + 14 * number, data, colour))
        for figure in (f for f in done if f["data"] == data):
            across, up = x(figure["quiet_cpu_p50"]), y(figure["recall"])
            ours = figure["contestant"].startswith("twolane")
            out.append(
                f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{6 if ours else 4}"'
                f' fill="{colour}"><title>{escape(figure["contestant"])}</title></circle>'
            )
            out.append(_text(across, up - 8, figure["contestant"], colour))
    return "\n".join([*out, "</svg>\n"])


def _text(x: float, y: float, text: str, colour: str = "#333333") -> str:
    anchor = 'text-anchor="middle"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {anchor} fill="{colour}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#dddddd"/>'
