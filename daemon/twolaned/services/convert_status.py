"""How the daemon is, both ways."""

from __future__ import annotations

from twolane.v1 import admin_service_pb2 as admin
from twolaned.lanes.meaning import RecallReport
from twolaned.search.recall_check import RecallCheck
from twolaned.services.convert_enums import RANKING_DATE, ROW_KIND, SEARCH_MODE, SIMILARITY, TIER
from twolaned.services.convert_time import duration, microseconds, milliseconds, timestamp
from twolaned.services.daemon_status import (
    DaemonStatus,
    LaneStatus,
    RecentError,
    SourceCount,
    TierCount,
)

_PLAIN = (
    "version",
    "protocol",
    "pid",
    "data_path",
    "endpoint",
    "config_path",
    "format_version",
    "index_generation",
    "passages",
    "segments",
    "memtable_passages",
    "terms",
    "disk_bytes",
    "disk_free_bytes",
    "memory_bytes",
    "writer_state",
    "writer_activity",
    "next_action",
    "searches",
)
"""The fields that mean the same on both sides."""


def status_to_proto(status: DaemonStatus) -> admin.StatusResponse:
    """The message that holds *status*."""
    return admin.StatusResponse(
        started_at=timestamp(status.started_at),
        uptime=duration(status.uptime_us),
        start_up=duration(status.start_up_us),
        tiers=[
            admin.TierCount(kind=ROW_KIND.to_proto(t.kind), tier=TIER.to_proto(t.tier), rows=t.rows)
            for t in status.tiers
        ],
        sources=[
            admin.SourceCount(source=s.source, rows=s.rows, newest_at=timestamp(s.newest_at))
            for s in status.sources
        ],
        lanes=[
            admin.LaneStatus(lane=lane.lane, state=lane.state, message=lane.message)
            for lane in status.lanes
        ],
        mode=SEARCH_MODE.to_proto(status.mode),
        similarity=SIMILARITY.to_proto(status.similarity),
        ranking_date=RANKING_DATE.to_proto(status.ranking_date),
        recent_errors=[
            admin.RecentError(at=timestamp(e.at), where=e.where, message=e.message)
            for e in status.recent_errors
        ],
        recall=[
            admin.RecallCheck(
                space=check.space,
                questions=check.report.questions,
                rows=check.report.n,
                mean=check.report.mean,
                worst=check.report.worst,
                checked_at=timestamp(check.checked_at),
            )
            for check in status.recall
        ],
        **{name: getattr(status, name) for name in _PLAIN},
    )


def status_from_proto(response: admin.StatusResponse) -> DaemonStatus:
    """The state that the message holds."""
    return DaemonStatus(
        started_at=milliseconds("started_at", response.started_at),
        uptime_us=microseconds("uptime", response.uptime),
        start_up_us=microseconds("start_up", response.start_up),
        tiers=tuple(
            TierCount(ROW_KIND.known(t.kind, "kind"), TIER.known(t.tier, "tier"), t.rows)
            for t in response.tiers
        ),
        sources=tuple(
            SourceCount(
                s.source,
                s.rows,
                milliseconds("newest_at", s.newest_at) if s.HasField("newest_at") else None,
            )
            for s in response.sources
        ),
        lanes=tuple(LaneStatus(lane.lane, lane.state, lane.message) for lane in response.lanes),
        mode=SEARCH_MODE.known(response.mode, "mode"),
        similarity=SIMILARITY.known(response.similarity, "similarity"),
        ranking_date=RANKING_DATE.known(response.ranking_date, "ranking_date"),
        recent_errors=tuple(
            RecentError(milliseconds("at", e.at), e.where, e.message)
            for e in response.recent_errors
        ),
        recall=tuple(
            RecallCheck(
                check.space,
                RecallReport(check.questions, check.rows, check.mean, check.worst),
                milliseconds("checked_at", check.checked_at),
            )
            for check in response.recall
        ),
        **{name: getattr(response, name) for name in _PLAIN},
    )
