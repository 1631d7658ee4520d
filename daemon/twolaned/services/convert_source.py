"""Followed folders, both ways."""

from __future__ import annotations

import posixpath

from twolane.v1 import source_service_pb2 as sources
from twolaned.model.errors import InvalidInput
from twolaned.model.source import Extraction, Source, SourceScope, source_id
from twolaned.services import checks
from twolaned.services.convert_enums import EXTRACTION, SOURCE_SCOPE
from twolaned.services.convert_report import skip_from_proto, skip_to_proto
from twolaned.services.convert_time import milliseconds, timestamp

MAX_PATH = 4_096
"""Bytes, as the system has it."""
MAX_CLIENT_NAME = 200
"""Characters."""
MAX_PATTERNS = 1_000
MAX_PATTERN = 1_024
"""Characters."""


def new_source(source: sources.Source) -> Source:
    """The folder to follow that *source* names; output-only fields are ignored.

    Raises InvalidInput that names the field.
    """
    checks.required("source.path", source.path)
    checks.at_most_bytes("source.path", source.path, MAX_PATH)
    checks.absolute_path("source.path", source.path)
    checks.at_most_characters("source.client_name", source.client_name, MAX_CLIENT_NAME)
    checks.at_most_items("source.exclude", source.exclude, MAX_PATTERNS)
    for number, pattern in enumerate(source.exclude):
        checks.required(f"source.exclude[{number}]", pattern)
        checks.at_most_characters(f"source.exclude[{number}]", pattern, MAX_PATTERN)
    scope = SOURCE_SCOPE.from_proto(source.scope, "source.scope", unspecified=SourceScope.DOCUMENT)
    if source.client_name and scope is not SourceScope.CLIENT:
        raise InvalidInput(
            "source.client_name",
            "`source.client_name` is for client material. Set `scope` to client, or leave it out.",
            reason="CONFLICT",
        )
    path = folder_path(source.path)
    return Source(
        id=source_id(path),
        path=path,
        extraction=EXTRACTION.from_proto(
            source.extraction, "source.extraction", unspecified=Extraction.DEFAULT
        ),
        scope=scope,
        client_name=source.client_name,
        exclude=tuple(source.exclude),
    )


def folder_path(path: str) -> str:
    """*path*, which is absolute, in the one spelling that names the folder in the store."""
    # POSIX lets two leading slashes mean something else; nowhere does it.
    return "/" + posixpath.normpath(path).lstrip("/")


def source_to_proto(source: Source) -> sources.Source:
    """The message that holds *source*."""
    return sources.Source(
        id=source.id,
        path=source.path,
        extraction=EXTRACTION.to_proto(source.extraction),
        scope=SOURCE_SCOPE.to_proto(source.scope),
        client_name=source.client_name,
        exclude=source.exclude,
        documents=source.documents,
        last_scanned_at=timestamp(source.last_scanned_at),
        skips=[skip_to_proto(skip) for skip in source.skips],
        last_error=source.last_error,
    )


def source_from_proto(source: sources.Source) -> Source:
    """The followed folder that the message holds."""
    scanned = source.last_scanned_at if source.HasField("last_scanned_at") else None
    return Source(
        id=source.id,
        path=source.path,
        extraction=EXTRACTION.known(source.extraction, "extraction"),
        scope=SOURCE_SCOPE.known(source.scope, "scope"),
        client_name=source.client_name,
        exclude=tuple(source.exclude),
        documents=source.documents,
        last_scanned_at=None if scanned is None else milliseconds("last_scanned_at", scanned),
        skips=tuple(skip_from_proto(skip) for skip in source.skips),
        last_error=source.last_error,
    )
