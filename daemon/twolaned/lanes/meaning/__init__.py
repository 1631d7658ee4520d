"""Which rows mean the same as this question?

One immutable `VectorIndex` for each vector space. The float32 vectors are the truth; codes of one
or two bits a dimension are derived from them and scanned, and what looks near is compared exactly.
"""

from twolaned.lanes.meaning.index import VectorIndex
from twolaned.lanes.meaning.recall import RecallReport, measure_recall
from twolaned.lanes.meaning.vectors import VectorSource

__all__ = ["RecallReport", "VectorIndex", "VectorSource", "measure_recall"]
