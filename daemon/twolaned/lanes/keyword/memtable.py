"""Recent rows, in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.posting_batch import PostingBatch


@dataclass(frozen=True, slots=True)
class Run:
    """The passages of one commit: *rows* (uint32 by passage, ascending) and their postings."""

    sequence: int
    rows: NDArray[np.uint32]
    batch: PostingBatch

    def postings(self) -> PostingBatch:
        """All postings."""
        return self.batch
