"""Which rows mean the same as this question?

One immutable `VectorIndex` for each vector space. The float32 vectors are the truth; codes of one
or two bits a dimension are derived from them and scanned, and what looks near is compared exactly.

The writer embeds passages, appends their vectors to the space's file and publishes, in one commit,
the file's new count and the run that says whose they are (`twolaned.writer.vectors`). The serving
process follows: for each file of the manifest it reads the runs behind the count that it knows and
calls `MeaningIndex.with_rows` with them and the mapped file, which copies no vector; for row
versions that died, `with_dead`. A search holds one `MeaningIndex` and asks
`search(questions, n, allowed)`, with the question's vector by space and a mask by row number, as it
asks the keyword lane.
"""

from twolaned.lanes.meaning.index import VectorIndex
from twolaned.lanes.meaning.recall import RecallReport, measure_recall
from twolaned.lanes.meaning.spaces import MeaningIndex
from twolaned.lanes.meaning.vectors import VectorSource

__all__ = ["MeaningIndex", "RecallReport", "VectorIndex", "VectorSource", "measure_recall"]
