"""Why an answer is what it is, both ways."""

from __future__ import annotations

from twolane.v1 import search_service_pb2 as search
from twolaned.model.result import LaneReceipt, Receipt, SourceLag
from twolaned.services.convert_enums import RANKING_DATE, SEARCH_MODE, SIMILARITY, TIER
from twolaned.services.convert_time import duration, microseconds, milliseconds, timestamp


def receipt_to_proto(receipt: Receipt) -> search.Receipt:
    """The message that holds *receipt*."""
    return search.Receipt(
        index_generation=receipt.index_generation,
        mode=SEARCH_MODE.to_proto(receipt.mode),
        similarity=SIMILARITY.to_proto(receipt.similarity),
        ranking_date=RANKING_DATE.to_proto(receipt.ranking_date),
        degraded=receipt.degraded,
        degraded_reason=receipt.degraded_reason,
        degraded_message=receipt.degraded_message,
        lanes=[lane_to_proto(lane) for lane in receipt.lanes],
        tiers_searched=[TIER.to_proto(tier) for tier in receipt.tiers_searched],
        rows_in_reach=receipt.rows_in_reach,
        second_pass=receipt.second_pass,
        lags=[lag_to_proto(lag) for lag in receipt.lags],
        took=duration(receipt.took_us),
    )


def receipt_from_proto(receipt: search.Receipt) -> Receipt:
    """The receipt that the message holds."""
    return Receipt(
        index_generation=receipt.index_generation,
        mode=SEARCH_MODE.known(receipt.mode, "mode"),
        similarity=SIMILARITY.known(receipt.similarity, "similarity"),
        ranking_date=RANKING_DATE.known(receipt.ranking_date, "ranking_date"),
        lanes=tuple(lane_from_proto(lane) for lane in receipt.lanes),
        tiers_searched=tuple(TIER.known(t, "tiers_searched") for t in receipt.tiers_searched),
        rows_in_reach=receipt.rows_in_reach,
        second_pass=receipt.second_pass,
        lags=tuple(lag_from_proto(lag) for lag in receipt.lags),
        degraded=receipt.degraded,
        degraded_reason=receipt.degraded_reason,
        degraded_message=receipt.degraded_message,
        took_us=microseconds("took", receipt.took),
    )


def lane_to_proto(lane: LaneReceipt) -> search.LaneReceipt:
    """The message that holds *lane*."""
    return search.LaneReceipt(
        lane=lane.name,
        ran=lane.ran,
        took=duration(lane.took_us),
        candidates=lane.candidates,
        skipped_because=lane.skipped_because,
    )


def lane_from_proto(lane: search.LaneReceipt) -> LaneReceipt:
    """What one lane did, as the message says."""
    return LaneReceipt(
        name=lane.lane,
        ran=lane.ran,
        took_us=microseconds("took", lane.took),
        candidates=lane.candidates,
        skipped_because=lane.skipped_because,
    )


def lag_to_proto(lag: SourceLag) -> search.SourceLag:
    """The message that holds *lag*."""
    return search.SourceLag(
        source_id=lag.source,
        last_scanned_at=timestamp(lag.last_scanned_at),
        pending_files=lag.pending_files,
    )


def lag_from_proto(lag: search.SourceLag) -> SourceLag:
    """How far a source lags behind, as the message says."""
    scanned = lag.last_scanned_at if lag.HasField("last_scanned_at") else None
    return SourceLag(
        source=lag.source_id,
        last_scanned_at=None if scanned is None else milliseconds("last_scanned_at", scanned),
        pending_files=lag.pending_files,
    )
