"""What a backup is, as its messages."""

from __future__ import annotations

from twolane.v1 import admin_service_pb2 as admin
from twolaned.model.backup import BackupReport, CopyProgress
from twolaned.services.convert_time import timestamp


def backup_to_proto(report: BackupReport) -> admin.BackupResponse:
    """The last message of a backup, or of a restore."""
    return admin.BackupResponse(
        done=True,
        bytes_done=report.size,
        bytes_total=report.size,
        backup=admin.BackupReport(
            path=report.path,
            index_generation=report.generation,
            created_at=timestamp(report.created_at),
            rows=report.rows,
            vectors=report.vectors,
            files=report.files,
            bytes=report.size,
        ),
    )


def copy_progress_to_proto(progress: CopyProgress) -> admin.BackupResponse:
    """The message that says how far the copying is."""
    return admin.BackupResponse(bytes_done=progress.done, bytes_total=progress.total)
