"""The log of evidence: which a task opened and cited, and how the task went.

It changes no ranking and no index generation.
"""

from __future__ import annotations

from twolaned.writer.context import Job, JobContext
from twolaned.writer.protocol import FeedbackChanged, ForgetFeedback, LogFeedback


def log_feedback_job(context: JobContext, command: LogFeedback) -> Job:
    """Add to the log; what a session opened is there once."""
    with context.committer.store.change() as change:
        added = sum(change.log_feedback(entry) for entry in command.entries)
    return FeedbackChanged(added)
    yield None  # a job is a generator, even one that needs a single step


def forget_feedback_job(context: JobContext, command: ForgetFeedback) -> Job:
    """Remove entries from the log."""
    with context.committer.store.change() as change:
        gone = change.forget_feedback(frozenset(command.sessions), frozenset(command.evidence_keys))
    return FeedbackChanged(gone)
    yield None  # a job is a generator, even one that needs a single step
