"""The full names of the services, as clients ask for their health."""

from __future__ import annotations

from twolane.v1 import (
    admin_service_pb2,
    archive_service_pb2,
    compaction_service_pb2,
    context_service_pb2,
    feedback_service_pb2,
    search_service_pb2,
    source_service_pb2,
)

WHOLE = ""
"""The whole daemon."""
READING = (
    search_service_pb2.DESCRIPTOR.services_by_name["SearchService"].full_name,
    context_service_pb2.DESCRIPTOR.services_by_name["ContextService"].full_name,
    admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"].full_name,
)
"""The services that work without the writer."""
WRITING = (
    archive_service_pb2.DESCRIPTOR.services_by_name["ArchiveService"].full_name,
    source_service_pb2.DESCRIPTOR.services_by_name["SourceService"].full_name,
    feedback_service_pb2.DESCRIPTOR.services_by_name["FeedbackService"].full_name,
    compaction_service_pb2.DESCRIPTOR.services_by_name["CompactionService"].full_name,
)
"""The services that need it."""
