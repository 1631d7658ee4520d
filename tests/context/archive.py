"""A small archive in memory, made as the daemon makes it, and packs from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

from tests.search.indexer import Indexer
from tests.search.world import DAY, NOW, MemoryStore
from twolaned.config.settings import RankingSettings
from twolaned.context.builder import PackBuilder
from twolaned.context.git_state import FileState, GitReader, GitStates
from twolaned.context.pack import ContextPack, PackRequest
from twolaned.ingest.documents import document_of
from twolaned.ingest.drafts import draft_conversation, draft_document
from twolaned.ingest.searchable import searchable_text
from twolaned.lanes.meaning import MeaningIndex
from twolaned.model.conversation import Conversation, Message, MessageKind, Role, TitleFrom
from twolaned.model.document import Document
from twolaned.model.row import Row, RowDraft, Tier
from twolaned.search.engine import SearchEngine
from twolaned.search.question import MeaningQuestion
from twolaned.search.row_table import RowTable
from twolaned.search.snapshot import IndexSnapshot


class TrackedFiles(GitReader):
    """Takes every file for one that is there and tracked."""

    def state(self, path: str) -> FileState:  # noqa: ARG002
        return FileState.TRACKED


class Tracked(GitStates):
    """Asks no git: all files are tracked."""

    def reader(self) -> GitReader:
        return TrackedFiles(self)


class Archive:
    """Rows, their index and a builder. *git* None takes all files for tracked ones."""

    def __init__(self, git: GitStates | None = None) -> None:
        self.store = MemoryStore()
        self.indexer = Indexer()
        self.store.terms = self.indexer.terms
        self.table = RowTable.empty()
        self.generation = 0
        self.meaning = MeaningIndex.empty()
        self.texts: dict[int, list[str]] = {}
        """What the lanes index of each row's passages, by row number."""
        engine = SearchEngine(RankingSettings(), clock=lambda: NOW)
        self.builder = PackBuilder(engine, git or Tracked(), clock=lambda: NOW)

    def document(
        self, root: str, path: str, text: str, *, days_ago: float = 1, **values: Any
    ) -> str:
        """Add the file *path* below *root*; return its evidence key."""
        found = document_of(
            root=root, path=path, data=text.encode(), modified_at=_at(days_ago), **values
        )
        assert isinstance(found, Document)
        return self._put(draft_document(found, None), Tier.DOCUMENT)

    def chat(
        self,
        name: str,
        *turns: str | Message,
        cwd: str | None = None,
        days_ago: float = 1,
        title: str = "",
        tier: Tier = Tier.HOT,
        source: str = "claude-code",
        **values: Any,
    ) -> str:
        """Add a conversation whose turns are the person's and the model's by turns."""
        messages = [
            turn
            if isinstance(turn, Message)
            else said(turn, human=place % 2 == 0, at=_at(days_ago) + place * 1000)
            for place, turn in enumerate(turns)
        ]
        conversation = Conversation(
            id=f"{source}:{name}",
            provider=source,
            title=title or name,
            title_from=TitleFrom.PROVIDER,
            messages=tuple(messages),
            cwd=cwd,
            created_at=_at(days_ago),
            updated_at=_at(days_ago),
            **values,
        )
        return self._put(draft_conversation(conversation), tier)

    def _put(self, draft: RowDraft, tier: Tier) -> str:
        self.generation += 1
        number = self.generation
        names = {f.name for f in fields(Row)} & {f.name for f in fields(RowDraft)}
        row = Row(
            number=number,
            tier=tier,
            content_bytes=len(draft.body.encode()),
            indexed_at=draft.occurred_at or NOW,
            message_count=len(draft.messages),
            **{name: getattr(draft, name) for name in names},
        )
        assert row.id not in self.store.live
        row = self.store.put(row, draft.body, draft.messages)
        self.table = self.table.with_rows([row])
        texts = [
            searchable_text(
                row.title,
                row.occurred_at,
                passage,
                self.store.body_slice(number, passage.offset, passage.length),
            )
            for passage in row.passages
        ]
        self.texts[number] = texts
        self.indexer.add(number, texts)
        return row.evidence_key

    def snapshot(self) -> IndexSnapshot:
        """The index as it is now."""
        return IndexSnapshot(
            generation=self.generation,
            keyword=self.indexer.index,
            rows=self.table,
            view=cast("Any", self.store.view),
            meaning=self.meaning,
        )

    def pack(
        self, task: str, *, meaning: MeaningQuestion | None = None, **arguments: Any
    ) -> ContextPack:
        """The pack on *task*."""
        request = PackRequest(task=task, **arguments)
        return self.builder.build(self.snapshot(), request, meaning=meaning)


def said(text: str, *, human: bool = True, at: int | None = None, **values: Any) -> Message:
    """A message of the person or of the model."""
    return Message(
        role=Role.USER if human else Role.ASSISTANT,
        kind=MessageKind.HUMAN if human else MessageKind.ASSISTANT,
        text=text,
        at=at,
        **values,
    )


def quotes(pack: ContextPack, *buckets: str) -> list[str]:
    """What the pack quotes, in the *buckets* named or in all."""
    return [
        item.quote
        for shelf in pack.shelves
        if not buckets or shelf.bucket in buckets
        for item in shelf.items
    ]


def keys(pack: ContextPack, bucket: str) -> list[str]:
    """The evidence that stands in *bucket*."""
    return [i.evidence_key for s in pack.shelves if s.bucket == bucket for i in s.items]


def shelves(pack: ContextPack) -> Sequence[str]:
    """The buckets of *pack* in their order."""
    return [shelf.bucket.value for shelf in pack.shelves]


def _at(days_ago: float) -> int:
    return int(NOW - days_ago * DAY)
