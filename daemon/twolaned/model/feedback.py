"""What became of evidence: which a task opened and cited, and how the task went."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FeedbackKind(StrEnum):
    """What an entry of the log tells."""

    OPENED = "opened"
    CITED = "cited"
    OUTCOME = "outcome"


class Outcome(StrEnum):
    """How a task went."""

    UNKNOWN = "unknown"
    HELPED = "helped"
    PARTLY = "partly"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One entry of the log, which is only ever added to and forgotten from.

    *at* is UTC milliseconds. *evidence_key* is empty for an outcome.
    """

    at: int
    kind: FeedbackKind
    session: str
    evidence_key: str = ""
    task: str = ""
    outcome: Outcome = Outcome.UNKNOWN
    note: str = ""
