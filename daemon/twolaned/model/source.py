"""A followed folder."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from twolaned.model.report import SkipTotal


class Extraction(StrEnum):
    """Where a source's texts may be embedded."""

    DEFAULT = "default"
    LOCAL = "local"


class SourceScope(StrEnum):
    """What a source's documents are to the person."""

    DOCUMENT = "document"
    PROJECT = "project"
    CLIENT = "client"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A folder that the index follows, and what its last scan found. Times are UTC ms.

    *id* is made from *path*, an absolute path without a trailing slash.
    """

    id: str
    path: str
    extraction: Extraction = Extraction.DEFAULT
    scope: SourceScope = SourceScope.DOCUMENT
    client_name: str = ""
    exclude: tuple[str, ...] = ()
    documents: int = 0
    last_scanned_at: int | None = None
    skips: tuple[SkipTotal, ...] = ()
    last_error: str = ""


def source_id(path: str) -> str:
    """The id of the source at *path*: its last name for people, a hash for uniqueness."""
    name = re.sub(r"[^a-z0-9]+", "-", path.rpartition("/")[2].lower()).strip("-")[:40]
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{name or 'folder'}-{digest}"
