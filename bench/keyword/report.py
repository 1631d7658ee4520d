"""The figures as Markdown and as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.keyword.data import KINDS

Figures = list[dict[str, Any]]

TARGETS = {10_000: (0.06, 0.12), 100_000: (0.10, 0.40), 1_000_000: (0.22, 1.9)}
"""p50 and p95 in ms, by passages."""


def markdown(figures: Figures) -> str:
    """One table for each size."""
    parts = []
    for count in sorted({f["count"] for f in figures}):
        of_it = [f for f in figures if f["count"] == count]
        done = [f for f in of_it if "missing" not in f]
        base = next((f for f in done if f["contestant"] == "twolane"), None)
        head = (
            "Engine", "p50", "p95", "p99", "× ours p50", "× ours p95", *KINDS, "wall p50 / p95",
            "build s", "MiB", "questions",
        )  # fmt: skip
        lines = [f"### {count:,} passages (ms of CPU, medians)", ""]
        if count in TARGETS:
            p50, p95 = TARGETS[count]
            lines += [f"Target: p50 ≤ {p50} ms, p95 ≤ {p95} ms.", ""]
        lines += ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        lines += ["| " + " | ".join(_cells(f, base)) + " |" for f in done]
        lines += [f"\nNot run: {f['contestant']} ({f['missing']})" for f in of_it if "missing" in f]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _cells(figure: dict[str, Any], base: dict[str, Any] | None) -> list[str]:
    p50, p95, p99 = figure["cpu"]
    ratios = ["", ""]
    if base is not None:
        ratios = [f"{p50 / base['cpu'][0]:.2f}", f"{p95 / base['cpu'][1]:.2f}"]
    return [
        figure["contestant"],
        *(_shown(value) for value in (p50, p95, p99)),
        *ratios,
        *(f"{_shown(figure[kind][0])} / {_shown(figure[kind][1])}" for kind in KINDS),
        f"{_shown(figure['wall'][0])} / {_shown(figure['wall'][1])}",
        f"{figure['build_cpu_s']:.1f}",
        f"{figure['mb']:.0f}",
        str(figure["questions"]),
    ]


def _shown(milliseconds: float) -> str:
    return f"{milliseconds:.3g}" if milliseconds < 1_000 else f"{milliseconds:.0f}"


def plot(figures: Figures, path: Path) -> None:
    """Latency against size, both on logarithmic scales; p50 as lines, p95 dashed."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    done = [f for f in figures if "missing" not in f]
    chart, axes = plt.subplots(figsize=(8, 5))
    for place, name in enumerate(dict.fromkeys(f["contestant"] for f in done)):
        of_it = sorted((f for f in done if f["contestant"] == name), key=lambda f: f["count"])
        sizes = [f["count"] for f in of_it]
        for at, style in ((0, "o-"), (1, "o--")):
            label = name if at == 0 else None
            axes.plot(sizes, [f["cpu"][at] for f in of_it], style, color=f"C{place}", label=label)
    axes.set(xscale="log", yscale="log", xlabel="passages", ylabel="ms of CPU a question")
    axes.set_title("Keyword search, best 30, one core: p50 (line) and p95 (dashed)")
    axes.grid(alpha=0.3)
    axes.legend()
    chart.tight_layout()
    chart.savefig(path, dpi=120)
