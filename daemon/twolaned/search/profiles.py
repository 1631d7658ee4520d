"""What many rows have in common, kept once."""

from __future__ import annotations

from typing import NamedTuple

from twolaned.model.row import Quality, Row, RowKind, Tier
from twolaned.search.row_filter import RowFilter, SourceNames, folded


class Profile(NamedTuple):
    """A row's properties that are shared. *client*, *domain* and *intent* are `folded`."""

    kind: RowKind
    tier: Tier
    quality: Quality
    generated: bool
    source: str
    project: str | None
    client: str | None
    domain: str | None
    intent: str | None
    root: str | None
    """The folder that the source follows, where the row's id begins with it."""
    folder: str | None
    """Where a document lies, or a conversation's working directory."""

    @classmethod
    def of(cls, row: Row, root: str | None) -> Profile:
        """The profile of *row*, whose id begins with the folder *root*."""
        document = row.kind is RowKind.DOCUMENT
        path = row.path if document else None
        folder = row.cwd if path is None else path.rpartition("/")[0] or "/"
        return cls(
            kind=row.kind,
            tier=row.tier,
            quality=row.quality,
            generated=row.generated and row.kind is not RowKind.DIGEST,
            source=row.source,
            project=row.project,
            client=_folded(row.client),
            domain=_folded(row.domain),
            intent=_folded(row.intent),
            root=root,
            folder=folder or None,
        )

    def meets(self, conditions: RowFilter) -> bool:
        """Whether a row of this profile may meet *conditions*; dates, paths, topics and decisions
        are each row's own and not judged here."""
        return (
            self.tier in conditions.tiers
            and self.kind in conditions.kinds
            and (conditions.roots is None or self.root in conditions.roots)
            and all(self._is_from(names) for names in conditions.sources)
            and (not conditions.qualities or self._is_rated(conditions))
            and conditions.domain in (None, self.domain)
            and conditions.intent in (None, self.intent)
            and (conditions.client is None or self._is_of_client(conditions))
            and (conditions.project is None or self._is_in_project(conditions))
        )

    def _is_from(self, names: SourceNames) -> bool:
        return folded(self.source) in names.names or self.root in names.roots

    def _is_rated(self, conditions: RowFilter) -> bool:
        return self.kind is RowKind.CONVERSATION and self.quality in conditions.qualities

    def _is_of_client(self, conditions: RowFilter) -> bool:
        return self.client == conditions.client or self.root in conditions.client_roots

    def _is_in_project(self, conditions: RowFilter) -> bool:
        project = conditions.project
        assert project is not None
        if self.kind is not RowKind.DOCUMENT and not conditions.strict_project:
            return True
        if self.folder is not None:
            return project.holds(self.folder)
        # A name alone is no proof: another client's project may have the same one.
        return not conditions.strict_project and self.project in project.names


def root_of(row_id: str, path: str | None) -> str | None:
    """The folder of a document's id ``<root>:<path below it>``, proven by its absolute *path*."""
    if path is None:
        return None
    end = row_id.find(":")
    while end >= 0 and not path.startswith(f"{row_id[:end]}/"):
        end = row_id.find(":", end + 1)
    return row_id[:end] if end >= 0 else None


def _folded(value: str | None) -> str | None:
    return None if value is None else folded(value)
