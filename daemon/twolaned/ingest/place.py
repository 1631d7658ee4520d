"""Where a stream lies, for formats that spread a conversation and its facts over several files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twolaned.ingest.json_stream import decode, utf8_chunks
from twolaned.ingest.tree import Entry, Tree

_FACTS = 4 << 20
"""Bytes of a file of facts that are looked at."""


@dataclass(frozen=True, slots=True)
class Place:
    """The stream *entry* in the *tree* that it is a part of."""

    entry: Entry
    tree: Tree

    @property
    def folder(self) -> str:
        """The folder that the entry lies in; empty for the tree's root."""
        return self.entry.name.rpartition("/")[0]

    @property
    def folder_name(self) -> str:
        """The folder's own name, on the disk where the tree does not tell it; else empty."""
        if self.entry.path is not None:
            return self.entry.path.absolute().parent.name
        return self.folder.rpartition("/")[2]

    def find(self, *parts: str) -> Entry | None:
        """The entry of that name, if the tree has it; empty parts are left out."""
        return self.tree.by_name.get("/".join(part for part in parts if part))

    def text(self, *parts: str) -> str:
        """What a small file of the tree says; nothing where it is not there."""
        found = self.find(*parts)
        if found is None:
            return ""
        data = bytearray()
        with found.open() as stream:
            for chunk in utf8_chunks(stream):
                data += chunk
                if len(data) > _FACTS:
                    return ""
        return data.decode("utf-8", "replace")

    def facts(self, *parts: str) -> dict[str, Any]:
        """The JSON object in a small file of the tree; an empty one where there is none."""
        try:
            value = decode(self.text(*parts).encode())
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}
