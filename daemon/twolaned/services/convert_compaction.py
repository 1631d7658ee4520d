"""What a compaction did, as its message."""

from __future__ import annotations

from twolane.v1 import compaction_service_pb2 as compactions
from twolaned.model.compaction import (
    CompactionProgress,
    CompactionReport,
    DigestReport,
    Enrichment,
)
from twolaned.services.convert_time import timestamp

_PROVIDERS = {
    Enrichment.EXTRACTIVE: compactions.DIGEST_PROVIDER_EXTRACTIVE,
    Enrichment.OLLAMA: compactions.DIGEST_PROVIDER_OLLAMA,
}
_PHASES = {
    "looking": compactions.COMPACTION_PHASE_LOOKING,
    "digests": compactions.COMPACTION_PHASE_DIGESTS,
    "moving": compactions.COMPACTION_PHASE_MOVING,
}


def compaction_to_proto(report: CompactionReport) -> compactions.Compaction:
    """The message that holds *report*."""
    return compactions.Compaction(
        number=report.number,
        idempotency_key=report.idempotency_key,
        dry_run=report.dry_run,
        started_at=timestamp(report.started_at),
        finished_at=timestamp(report.finished_at),
        cutoff_at=timestamp(report.cutoff),
        conversations=report.conversations,
        content_bytes=report.content_bytes,
        digests=[_digest(digest) for digest in report.digests],
        rolled_back=report.rolled_back_at is not None,
        rolled_back_at=timestamp(report.rolled_back_at),
        restored=report.restored,
    )


def progress_to_proto(progress: CompactionProgress) -> compactions.CompactResponse:
    """The message that says how far a compaction is."""
    return compactions.CompactResponse(
        phase=_PHASES[progress.phase], phase_done=progress.done, phase_total=progress.total
    )


def _digest(digest: DigestReport) -> compactions.Digest:
    return compactions.Digest(
        id=digest.id,
        conversations=digest.conversations,
        statements=digest.statements,
        replaced=digest.replaced,
        provider=_PROVIDERS[digest.provider],
        fell_back=digest.fell_back,
    )
