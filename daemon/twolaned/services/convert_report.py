"""What an import or a scan did, both ways."""

from __future__ import annotations

from twolane.v1 import common_pb2 as common
from twolaned.model.report import ImportReport, SkipTotal

_PLAIN = (
    "provider",
    "files_seen",
    "files_unchanged",
    "bytes_seen",
    "bytes_total",
    "bytes_indexed",
    "rows_new",
    "rows_replaced",
    "rows_unchanged",
    "rows_removed",
    "conversations",
    "documents",
    "messages",
    "passages",
    "current",
)
"""The fields that mean the same on both sides."""


def report_to_proto(report: ImportReport) -> common.ImportTotals:
    """The message that holds *report*."""
    plain = {name: getattr(report, name) for name in _PLAIN}
    return common.ImportTotals(skips=[skip_to_proto(s) for s in report.skips.values()], **plain)


def report_from_proto(totals: common.ImportTotals) -> ImportReport:
    """The report that *totals* holds."""
    skips = [skip_from_proto(skip) for skip in totals.skips]
    plain = {name: getattr(totals, name) for name in _PLAIN}
    return ImportReport(skips={(s.reason, s.detail): s for s in skips}, **plain)


def skip_to_proto(skip: SkipTotal) -> common.SkipCount:
    """The message that holds *skip*."""
    return common.SkipCount(
        reason=skip.reason,
        detail=skip.detail,
        count=skip.count,
        size=skip.size,
        examples=skip.examples,
    )


def skip_from_proto(skip: common.SkipCount) -> SkipTotal:
    """The skips of one reason that the message holds."""
    return SkipTotal(skip.reason, skip.detail, skip.count, skip.size, list(skip.examples))
