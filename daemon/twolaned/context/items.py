"""From what was found to quotations with their places."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from twolaned.context.claims import Stated
from twolaned.context.evidence import Found, Relation
from twolaned.context.pack import Item
from twolaned.context.relevance import TaskTerms
from twolaned.model.row import MessageSpan
from twolaned.search import words
from twolaned.search.ports import StoreView
from twolaned.search.projects import Project
from twolaned.search.snippet import cut_snippet

LONGEST_TITLE: Final = 120
"""Characters."""
FEWEST_BYTES: Final = 160
MOST_BYTES: Final = 1_000
"""Of a quotation in a small and in a large pack."""
DIALOGUE: Final = "dialogue"
"""Says it where a quotation goes on into the next message."""
SHARE: Final = 16
"""One quotation may take this part of the whole budget, one in so many."""
_FIRST_TIME: Final = -62_135_596_800_000
_LAST_TIME: Final = 253_402_300_799_999
"""UTC milliseconds that can be sent as a time."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Items:
    """Makes the items of one pack, whose quotations must leave room for others in *max_bytes*."""

    def __init__(
        self, view: StoreView, terms: TaskTerms, project: Project | None, max_bytes: int
    ) -> None:
        self._view = view
        self._terms = terms
        self._project = project
        self._room = min(max(max_bytes // SHARE, FEWEST_BYTES), MOST_BYTES)
        self.shortened = False
        """Whether a quotation was cut to leave room for others."""

    def share(self, text: str) -> float:
        """The share of the task's terms that *text* holds."""
        return self._terms.share(self._terms.held(text))

    def of_passage(self, found: Found, *, matched: bool = False) -> Item:
        """The item that quotes the best passage of *found*."""
        passage = found.passage
        snippet = cut_snippet(found.text, self._terms.marker, offset=passage.offset)
        item = self._item(found, snippet.text, snippet.offset, found.relevance)
        goes_on = snippet.offset > passage.offset or snippet.length < passage.length
        return replace(
            item,
            cut=item.cut or goes_on,
            matched=self._terms.matched(found.held) if matched else None,
        )

    def of_statement(self, stated: Stated) -> Item:
        """The item that quotes one statement."""
        text, offset = stated.placed.statement.text, stated.placed.offset
        item = self._item(stated.found, text, offset, stated.relevance)
        at = _sendable(stated.at)
        if stated.saved:
            return replace(item, message=None, said_by="saved", at=at)
        return replace(item, at=at)

    def place_of(self, stated: Stated) -> str:
        """Where a statement stands: evidence key, and line or message where there is one."""
        item = self.of_statement(stated)
        place = item.message if item.line is None else f"L{item.line}"
        return f"{item.evidence_key}@{place}" if place else item.evidence_key

    def path_of(self, found: Found) -> str | None:
        """A document's path, below the project's folder where it lies in the project."""
        path = found.row.path
        if path is None or self._project is None or found.relation is not Relation.HERE:
            return path
        roots = [r for r in self._project.roots if path.startswith(f"{r.rstrip('/')}/")]
        return path[len(max(roots, key=len).rstrip("/")) + 1 :] if roots else path

    def _item(self, found: Found, text: str, offset: int, relevance: float) -> Item:
        quote = _CONTROL.sub(" ", text)
        shown = self._shortened(quote)
        row = found.row
        message = None if found.is_document else found.message(offset)
        said_by = message[1].kind.value if message else None
        if message and offset + len(shown.encode()) > message[1].offset + message[1].length:
            said_by = DIALOGUE
        line = None
        if found.is_document:
            line = self._view.body_slice(found.number, 0, offset).count("\n") + 1
        elsewhere = found.relation is Relation.ELSEWHERE
        return Item(
            evidence_key=row.evidence_key,
            trust=found.judgement.trust,
            trust_reason=found.judgement.reason,
            quote=shown,
            cut=len(shown) < len(quote),
            offset=offset,
            relevance=round(min(max(relevance, 0.0), 1.0), 3),
            title=None if found.is_document else _title(row.title),
            path=self.path_of(found),
            line=line,
            message=_name_of(message),
            said_by=said_by,
            at=_sendable(message[1].at if message and message[1].at else row.occurred_at),
            project=row.project if elsewhere else None,
        )

    def _shortened(self, text: str) -> str:
        if len(text.encode()) <= self._room:
            return text
        self.shortened = True
        at = len(text.encode()[: self._room].decode("utf-8", "ignore"))
        return text[: words.cut_before(text, at)].rstrip()


def _title(title: str) -> str | None:
    line = " ".join(_CONTROL.sub(" ", title).split())
    if len(line) > LONGEST_TITLE:
        line = line[: words.cut_before(line, LONGEST_TITLE)].rstrip()
    return line or None


def _name_of(message: tuple[int, MessageSpan] | None) -> str | None:
    if message is None:
        return None
    place, span = message
    return span.native_id or f"#{place}"


def _sendable(at: int | None) -> int | None:
    return at if at is not None and _FIRST_TIME <= at <= _LAST_TIME else None
