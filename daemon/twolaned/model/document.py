"""What a folder scan or a project's knowledge file hands over: one document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file's text.

    *root* is the absolute path of the configured folder (or another stable name for a document
    that came inside an export) and *path* the file's place below it, with ``/`` separators, NFC.
    *modified_at* is UTC milliseconds.
    """

    root: str
    path: str
    title: str
    text: str
    source: str = "documents"
    project: str | None = None
    modified_at: int | None = None
    generated: bool = False
    """Whether the file says of itself that a tool wrote it (retrieval: generated reports)."""
    syntax: str = "text"
    """``markdown``, ``text``, ``code`` or ``config``: decides where passages may be cut."""

    @property
    def id(self) -> str:
        """Stable id, unique over all roots."""
        return f"{self.root}:{self.path}"
