"""Files of an export that are not opened, whatever they hold."""

from __future__ import annotations

import re
from collections import Counter

from twolaned.ingest.tree import Tree

_ACCOUNT = re.compile(
    r"(?:.*/)?(?:prod-mc-[^/]*\.json|light_metadata-\d+\.zip)", re.IGNORECASE | re.DOTALL
)
"""Grok's files of logins and payments, Claude.ai's of logins: nothing else tells them apart."""
_UPLOADS = re.compile(r"(?:.*/)?prod-mc-asset-server/.+", re.IGNORECASE | re.DOTALL)
"""What people uploaded to Grok may be an export too, and is none of this one's."""
_BACKEND = "prod-grok-backend.json"


class Closed:
    """Knows which entries of *tree* stay shut; *is_archive* says that they came as one file."""

    def __init__(self, tree: Tree, *, is_archive: bool) -> None:
        ends = Counter(entry.name.rpartition("/")[2] for entry in tree.entries)
        self._is_ambiguous = is_archive and ends[_BACKEND] > 1

    def reason(self, name: str) -> str:
        """Why the entry *name* is not opened, as a Skip names it; empty where it may be."""
        if _ACCOUNT.fullmatch(name):
            return "account_data"
        if _UPLOADS.fullmatch(name):
            return "uploaded_file"
        if self._is_ambiguous and name.rpartition("/")[2] == _BACKEND:
            return "ambiguous_export"
        return ""
