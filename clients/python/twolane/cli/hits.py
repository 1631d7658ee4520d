"""Search results for people."""

from __future__ import annotations

import bisect
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from twolane.cli import phrases, terminal, text
from twolane.words import word

if TYPE_CHECKING:
    from twolane.v1.admin_service_pb2 import StatusResponse
    from twolane.v1.search_service_pb2 import Receipt, ScoreParts, SearchResult, Snippet

SNIPPET_LINES = 3

FIRST_CELLS = 0.3
"""Where on the shown cut the first match stands: with some words before it to read it by."""


def hit(result: SearchResult, rank: int, *, digits: int, explain: bool) -> Iterator[str]:
    """Yield the lines for *result*; *digits* is how wide the ranks of the answer are."""
    cells = terminal.columns()
    indent = " " * (digits + 2)
    title = text.line(result.title) or text.line(result.summary) or text.line(result.id)
    yield f"{rank:>{digits}}  {terminal.bold(text.fit(title, cells - len(indent)))}"
    yield indent + terminal.dim(text.fit(facts(result), cells - len(indent)))
    for line in snippet(result.snippet, cells - len(indent)):
        yield indent + line
    if explain:
        for line in score(result, cells - len(indent)):
            yield indent + terminal.dim(line)
    yield indent + terminal.dim(pointer(result))


def facts(result: SearchResult) -> str:
    """Return where a result is from and what is particular about it, in one line."""
    from twolane.v1 import common_pb2, search_service_pb2

    moment = phrases.moment_of(result, "occurred_at", "indexed_at")
    tier = word(common_pb2.Tier.DESCRIPTOR, result.tier)
    passage = word(search_service_pb2.PassageKind.DESCRIPTOR, result.passage_kind)
    return phrases.joined(
        (
            text.line(result.source),
            phrases.day(moment) if moment else "",
            text.line(result.project),
            {"cold": "archive", "digest": "digest"}.get(tier, ""),
            {"secondary": "attachment", "off_branch": "abandoned words"}.get(passage, ""),
            "generated" if result.generated else "",
            phrases.count(result.duplicate_count, "copy", "copies") + " folded"
            if result.duplicate_count
            else "",
        )
    )


def pointer(result: SearchResult) -> str:
    """Return what to put behind ``twolane open`` to read on where the result was found."""
    at = f" --at {result.expand.offset}" if result.expand.offset else ""
    return shlex.quote(text.line(result.expand.id or result.id)) + at


def snippet(cut: Snippet, cells: int) -> Iterator[str]:
    """Yield at most `SNIPPET_LINES` lines of *cut* with the matched words marked."""
    shown, marks = _collapse(cut.text, [(span.start, span.end) for span in cut.matches])
    shown, marks = _window(shown, marks, cells * SNIPPET_LINES - SNIPPET_LINES * 4)
    lines = list(text.wrap(shown, cells - len(text.ELLIPSIS)))
    for number, (start, end) in enumerate(lines[:SNIPPET_LINES]):
        line = _marked(shown, start, end, marks)
        more = number == SNIPPET_LINES - 1 and len(lines) > SNIPPET_LINES
        yield line + (terminal.dim(text.ELLIPSIS) if more else "")


def score(result: SearchResult, cells: int) -> Iterator[str]:
    """Yield the lines that say how the score came about."""
    from twolane.v1 import search_service_pb2

    found_by = word(search_service_pb2.FoundBy.DESCRIPTOR, result.found_by)
    parts = [f"score {result.score:.3f}", f"found by {found_by}"]
    if result.HasField("score_parts"):
        parts += _terms(result.score_parts)
    line = ""
    for part in parts:
        if line and text.width(f"{line} · {part}") > cells:
            yield line
            line = part
        else:
            line = phrases.joined((line, part))
    yield line


def made_with(state: Receipt | StatusResponse) -> str:
    """Return what searches are made with: the mode, and how scores come about."""
    from twolane.v1 import search_service_pb2 as pb

    mode = word(pb.SearchMode.DESCRIPTOR, state.mode)
    similarity = word(pb.Similarity.DESCRIPTOR, state.similarity)
    dates = word(pb.RankingDate.DESCRIPTOR, state.ranking_date)
    return f"{mode}; similarity {similarity}, by date {dates}"


def receipt(made: Receipt) -> Iterator[str]:
    """Yield the lines that say why an answer is what it is."""
    from twolane.v1 import common_pb2

    rows = [("mode", made_with(made))]
    for lane in made.lanes:
        if lane.ran:
            took = phrases.span(phrases.seconds(lane.took))
            rows.append((lane.lane, f"{took}, {phrases.count(lane.candidates, 'candidate')}"))
        else:
            rows.append((lane.lane, f"did not run: {text.line(lane.skipped_because)}"))
    tiers = [word(common_pb2.Tier.DESCRIPTOR, tier) for tier in made.tiers_searched]
    again = "; a second pass searched the archive" if made.second_pass else ""
    rows.append(("searched", f"{', '.join(tiers) or 'nothing'}{again}"))
    rows.append(("in reach", phrases.count(made.rows_in_reach, "row")))
    for lag in made.lags:
        scanned = phrases.moment_of(lag, "last_scanned_at")
        waiting = (
            f", {phrases.count(lag.pending_files, 'file')} waiting" if lag.pending_files > 0 else ""
        )
        when = f"scanned {phrases.minute(scanned)}" if scanned else "never scanned"
        rows.append(("source", f"{text.line(lag.source_id)}: {when}{waiting}"))
    rows.append(("took", phrases.span(phrases.seconds(made.took))))
    rows.append(("index", f"generation {made.index_generation}"))
    yield "Why this answer"
    yield from terminal.table(rows, indent="  ", flexible=1)


def _terms(parts: ScoreParts) -> Iterator[str]:
    for name in (
        "similarity",
        "recency",
        "quality",
        "tier",
        "outcome",
        "found_both_ways",
        "freshness",
    ):
        yield f"{name.replace('_', ' ')} {getattr(parts, name):.2f}"
    for name in ("bm25", "cosine"):
        if parts.HasField(name):  # type: ignore[arg-type]  # both are fields
            yield f"{name} {getattr(parts, name):.2f}"


_Marks = list[tuple[int, int]]


def _collapse(stored: str, marks: _Marks) -> tuple[str, _Marks]:
    """Make *stored* one harmless line and move *marks* with it."""
    pieces: list[str] = []
    moved = [0]
    for character in stored:
        if character.isspace():
            piece = " " if pieces and pieces[-1] != " " else ""
        else:
            piece = text.line(character)
        # An empty piece must not look like a space that was just written.
        if piece:
            pieces.append(piece)
        moved.append(moved[-1] + len(piece))
    last = len(stored)
    spans = [(moved[min(start, last)], moved[min(end, last)]) for start, end in marks]
    return "".join(pieces), sorted(span for span in spans if span[0] < span[1])


def _window(shown: str, marks: _Marks, cells: int) -> tuple[str, _Marks]:
    """Cut *shown* to about *cells* around its first match, between words, with ellipses."""
    if text.width(shown) <= cells:
        return shown, marks
    start = marks[0][0] if marks else 0
    before = int(cells * FIRST_CELLS)
    while start > 0 and before > 0:
        start -= 1
        before -= text.width(shown[start])
    # Not so far to the right that room is left over at the end.
    rest = text.width(shown[start:])
    while start > 0 and rest < cells:
        start -= 1
        rest += text.width(shown[start])
    if start > 0:
        border = shown.find(" ", start)
        limit = marks[0][0] if marks else len(shown)
        start = border + 1 if 0 <= border < limit else start
    end = start + len(text.fit(shown[start:], cells).removesuffix(text.ELLIPSIS))
    border = shown.rfind(" ", start, end)
    if end < len(shown) and shown[end] != " " and border > start + (end - start) // 2:
        end = border
    lead = text.ELLIPSIS + " " * (shown[start - 1] == " ") if start > 0 else ""
    trail = " " * (shown[end] == " ") + text.ELLIPSIS if end < len(shown) else ""
    by = len(lead) - start
    inside = [(max(a, start) + by, min(b, end) + by) for a, b in marks if a < end and b > start]
    return lead + shown[start:end].rstrip() + trail, inside


def _marked(shown: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> str:
    pieces, at = [], start
    first = max(bisect.bisect_left(marks, (start, start)) - 1, 0)
    for a, b in marks[first:]:
        if a >= end:
            break
        low, high = max(a, at), min(b, end)
        if low < high:
            pieces += [shown[at:low], terminal.match(shown[low:high])]
            at = high
    return "".join([*pieces, shown[at:end]])
