"""Which passages still need a vector, and who may see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from twolaned.ingest.drafts import EXTRACTION
from twolaned.ingest.searchable import text_to_embed
from twolaned.model.row import RowKind
from twolaned.model.source import Extraction, Source
from twolaned.store import Store, View
from twolaned.store.records import RowRecord
from twolaned.writer.vectors import Covered

LOOKED_AT = 512
"""Row versions that are looked at in one step, which keeps it short."""


@dataclass(slots=True)
class PassageBatch:
    """Passages to embed together, all of rows with one extraction."""

    rows: list[int] = field(default_factory=list)
    passages: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    size: int = 0
    """Bytes of the texts."""


class Sweep:
    """Goes over all rows whose texts are of one *extraction*, again from the first one with news.

    What it need not look at again is marked, so that going over all rows anew costs little.
    """

    def __init__(self, store: Store, extraction: Extraction) -> None:
        self.extraction = extraction
        self._store = store
        self._next = 0
        self._settled: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.finished = False
        """Whether the last row has been looked at."""

    def restart(self, first: int) -> None:
        """Look at rows from the number *first* on again."""
        self._next = min(self._next, first)
        self.finished = False
        if first == 0:
            self._settled[:] = False

    def batch(self, covered: Covered, *, texts: int, size: int) -> PassageBatch:
        """The next passages without a vector: at most *texts*, about *size* bytes.

        Empty where this step found none; `finished` says whether there are more steps.
        """
        found = PassageBatch()
        with self._store.view() as view:
            numbers = view.versions(self._next, LOOKED_AT)
            sources = view.sources()
            for number in numbers:
                if not self._is_settled(number) and not self._take(
                    view, number, sources, covered, found, texts, size
                ):
                    self._next = number
                    return found
                self._next = number + 1
        self.finished = len(numbers) < LOOKED_AT
        return found

    def _take(
        self,
        view: View,
        number: int,
        sources: Sequence[Source],
        covered: Covered,
        found: PassageBatch,
        texts: int,
        size: int,
    ) -> bool:
        """Add the row's passages to *found*. Returns False where more did not fit."""
        record = view.record(number)
        if record is None or view.number(record.id) != number:
            return True
        if extraction_of(record, sources) is not self.extraction:
            self._settle(number)
            return True
        row = view.row(number)
        done = covered.of(number)
        if row is None or done >= len(row.passages):
            self._settle(number)
            return True
        some = range(done, min(len(row.passages), done + texts - len(found.texts)))
        body = view.body_bytes(number)
        messages = view.messages(number)
        for index in some:
            passage = row.passages[index]
            text = text_to_embed(row.title, row.occurred_at, passage, body, messages)
            if found.texts and found.size + len(text) > size:
                return False
            found.rows.append(number)
            found.passages.append(index)
            found.texts.append(text)
            found.size += len(text)
        # Not settled: only what is published is, and the next look at it costs one record.
        return some.stop == len(row.passages)

    def _is_settled(self, number: int) -> bool:
        return number < len(self._settled) and bool(self._settled[number])

    def _settle(self, number: int) -> None:
        if number >= len(self._settled):
            grown = np.zeros(number + number // 4 + 64, np.bool_)
            grown[: len(self._settled)] = self._settled
            self._settled = grown
        self._settled[number] = True


def extraction_of(record: RowRecord, sources: Sequence[Source]) -> Extraction:
    """Who may see the texts of *record*: the strictest of what it and its folders say."""
    if record.extra.get(EXTRACTION) == Extraction.LOCAL:
        return Extraction.LOCAL
    if record.kind is RowKind.DOCUMENT and record.path is not None:
        inside = (s for s in sources if record.path.startswith(f"{s.path.rstrip('/')}/"))
        if any(source.extraction is not Extraction.DEFAULT for source in inside):
            return Extraction.LOCAL
    return Extraction.DEFAULT
