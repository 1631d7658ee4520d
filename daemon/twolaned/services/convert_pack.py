"""Context packs: what is asked for, and what comes back."""

from __future__ import annotations

from twolane.v1 import context_service_pb2 as context
from twolaned.context.pack import (
    DEFAULT_BYTES,
    DEFAULT_PER_BUCKET,
    MAX_BYTES,
    MAX_PER_BUCKET,
    MAX_TASK,
    NOTICE,
    Bucket,
    ContextPack,
    Intent,
    Item,
    Omitted,
    PackReceipt,
    PackRequest,
    Trust,
)
from twolaned.model.errors import InvalidInput
from twolaned.services import checks
from twolaned.services.convert_enums import SEARCH_MODE, Enum
from twolaned.services.convert_time import milliseconds, timestamp

INTENT = Enum[Intent, context.Intent.ValueType](Intent, context.Intent.DESCRIPTOR, "INTENT_")
TRUST = Enum[Trust, context.Trust.ValueType](Trust, context.Trust.DESCRIPTOR, "TRUST_")
BUCKET = Enum[Bucket, context.Bucket.ValueType](Bucket, context.Bucket.DESCRIPTOR, "BUCKET_")
OMITTED = Enum[Omitted, context.OmissionReason.ValueType](
    Omitted, context.OmissionReason.DESCRIPTOR, "OMISSION_REASON_"
)


def pack_request_from_proto(request: context.ContextPackRequest) -> PackRequest:
    """What *request* asks. Raises InvalidInput that names the field."""
    checks.required("task", request.task)
    checks.at_most_characters("task", request.task, MAX_TASK)
    checks.between("max_bytes", request.max_bytes, 0, MAX_BYTES)
    checks.between("max_per_bucket", request.max_per_bucket, 0, MAX_PER_BUCKET)
    if request.cwd:
        checks.absolute_path("cwd", request.cwd)
    elif request.strict_project:
        raise InvalidInput(
            "cwd",
            "`strict_project` needs `cwd`, which says what project it is about.",
            reason="REQUIRED",
        )
    since = milliseconds("since", request.since) if request.HasField("since") else None
    as_of = milliseconds("as_of", request.as_of) if request.HasField("as_of") else None
    return PackRequest(
        task=request.task,
        cwd=request.cwd or None,
        max_bytes=request.max_bytes or DEFAULT_BYTES,
        max_per_bucket=request.max_per_bucket or DEFAULT_PER_BUCKET,
        since=since,
        as_of=as_of,
        strict_project=request.strict_project,
    )


def pack_to_proto(pack: ContextPack) -> context.ContextPackResponse:
    """The message that holds *pack*."""
    return context.ContextPackResponse(
        final=pack.final,
        pack_id=pack.pack_id,
        notice=NOTICE,
        task=pack.task,
        intent=INTENT.to_proto(pack.intent),
        project=pack.project,
        as_of=timestamp(pack.as_of),
        current_truth_caveat=pack.current_truth_caveat,
        recommended_live_files=pack.recommended_live_files,
        notes=pack.notes,
        buckets=[
            context.PackBucket(
                bucket=BUCKET.to_proto(shelf.bucket),
                items=[item_to_proto(item) for item in shelf.items],
            )
            for shelf in pack.shelves
        ],
        truncated=pack.truncated,
        omitted=[
            context.PackOmission(
                bucket=BUCKET.to_proto(one.bucket),
                reason=OMITTED.to_proto(one.reason),
                count=one.count,
            )
            for one in pack.omitted
        ],
        receipt=pack_receipt_to_proto(pack.receipt),
    )


def item_to_proto(item: Item) -> context.PackItem:
    """The message that holds *item*."""
    contest = None
    if item.supersedes or item.superseded_by is not None or item.disagrees_with is not None:
        contest = context.Contest(
            supersedes=item.supersedes,
            superseded_by=item.superseded_by,
            disagrees_with=item.disagrees_with,
        )
    return context.PackItem(
        evidence_key=item.evidence_key,
        trust=TRUST.to_proto(item.trust),
        trust_reason=item.trust_reason,
        quote=item.quote,
        cut=item.cut or None,
        offset=item.offset,
        relevance=item.relevance,
        title=item.title,
        path=item.path,
        line=item.line,
        message=item.message,
        said_by=item.said_by,
        at=timestamp(item.at),
        project=item.project,
        matched=item.matched,
        contest=contest,
    )


def pack_receipt_to_proto(receipt: PackReceipt) -> context.PackReceipt:
    """The message that holds *receipt*."""
    return context.PackReceipt(
        index_generation=receipt.index_generation,
        mode=SEARCH_MODE.to_proto(receipt.mode),
        lanes=receipt.lanes,
        degraded=receipt.degraded,
        degraded_reason=receipt.degraded_reason,
    )
