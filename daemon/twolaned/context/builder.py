"""Building a pack."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from twolaned.context import rendering
from twolaned.context.buckets import Sorter
from twolaned.context.budget import fit, stands_on_live_state
from twolaned.context.claims import Claims, StatementCache
from twolaned.context.echo import MARKER
from twolaned.context.evidence import Found, Reader, Relation, relation_of
from twolaned.context.finding import Finder, query_of
from twolaned.context.git_state import FileState, GitReader, GitStates
from twolaned.context.intent import intent_of
from twolaned.context.items import Items
from twolaned.context.pack import (
    CAVEAT,
    MAX_BYTES,
    MAX_PER_BUCKET,
    MAX_TASK,
    Bucket,
    ContextPack,
    Omission,
    Omitted,
    PackReceipt,
    PackRequest,
    Trust,
)
from twolaned.context.relevance import ENOUGH, TaskTerms
from twolaned.context.trust import Judgement, judge
from twolaned.ingest.git_facts import project_name
from twolaned.model.errors import InvalidInput
from twolaned.model.query import SearchQuery
from twolaned.model.result import Receipt
from twolaned.model.row import Row, RowKind
from twolaned.search.engine import SearchEngine, now_ms
from twolaned.search.limits import check_limits
from twolaned.search.projects import Project, project_of, widened
from twolaned.search.question import MeaningQuestion
from twolaned.search.results import Standing
from twolaned.search.snapshot import IndexSnapshot

MS_AN_HOUR: Final = 3_600_000
LIVE_FILES: Final = 5
"""Files that are recommended at the most."""
_ID: Final = f"{MARKER}:{'0' * 16}"
_PATH = re.compile(r"(?<![\w/.-])(?:\./)?((?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7})(?![\w/])")


class PackBuilder:
    """Builds packs with *engine*; safe to use from many threads at once.

    *clock* tells the time in UTC milliseconds.
    """

    def __init__(
        self,
        engine: SearchEngine,
        git: GitStates | None = None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._engine = engine
        self._git = GitStates.of_machine() if git is None else git
        self._clock = clock
        self._statements = StatementCache()

    def query(self, request: PackRequest) -> SearchQuery:
        """The search whose question is to be embedded. Raises InvalidInput as `build` does."""
        check(request)
        return query_of(request)

    def build(
        self,
        snapshot: IndexSnapshot,
        request: PackRequest,
        *,
        meaning: MeaningQuestion | None = None,
    ) -> ContextPack:
        """Build the pack that *request* asks for from *snapshot*.

        *meaning* is the question as the meaning lane takes it; None means that search by meaning
        is off. Raises InvalidInput that names the field by which *request* cannot be served.
        """
        check(request)
        now = self._clock() if request.as_of is None else request.as_of
        as_of = now // MS_AN_HOUR * MS_AN_HOUR
        intent = intent_of(request.task)
        project = widened(project_of(request.cwd), snapshot.sources) if request.cwd else None
        git = self._git.reader()
        with snapshot.view() as view:
            finder = Finder(self._engine, snapshot, view, request, intent, as_of, meaning)
            hits = finder.find()
            terms = TaskTerms.of(request.task, view, snapshot.keyword)
            by_words = not any(lane.name == "meaning" and lane.ran for lane in hits.receipt.lanes)
            reader = Reader(view, request.task, terms, by_words=by_words, as_of=as_of)
            found = _read(hits.standings, reader, project, git)
            if reader.echoes:
                known = {one.number for one in found}
                more = [s for s in finder.find_beyond_echoes() if s.number not in known]
                found += _read(more, reader, project, git)
            stated = Claims(view, terms, reader, self._statements).of(found)
            items = Items(view, terms, project, request.max_bytes)
            sorted_ = Sorter(items, intent, request.max_per_bucket).sort(found, stated)
            files = _live_files(found, items, project, git)
        shelves = sorted_.shelves(intent)
        echoes = (Omission(Bucket.PAST_REASONING, Omitted.ECHO, reader.echoes),)
        pack = ContextPack(
            pack_id=_ID,
            task=request.task,
            intent=intent,
            as_of=as_of,
            receipt=_receipt(hits.receipt),
            final=meaning is None or not meaning.pending,
            project=project_name(Path(request.cwd)) or None if request.cwd else None,
            current_truth_caveat=None if stands_on_live_state(shelves) else CAVEAT,
            recommended_live_files=files,
            notes=_notes(found, git, project),
            shelves=shelves,
            truncated=items.shortened,
            omitted=(echoes if reader.echoes else ()) + sorted_.omissions(intent),
        )
        fitted = fit(pack, request.max_bytes)
        return replace(fitted, pack_id=_identity(fitted, request, snapshot.generation))


def check(request: PackRequest) -> None:
    """Raise InvalidInput that names the field by which *request* cannot be served."""
    task = request.task
    if not task.strip():
        raise InvalidInput("task", "`task` is missing. Say what is to be done.", reason="REQUIRED")
    if len(task) > MAX_TASK:
        raise InvalidInput(
            "task",
            f"`task` has {len(task):,} characters; the limit is {MAX_TASK:,}.",
            reason="TOO_LONG",
        )
    for name, value, high in (
        ("max_bytes", request.max_bytes, MAX_BYTES),
        ("max_per_bucket", request.max_per_bucket, MAX_PER_BUCKET),
    ):
        if not 1 <= value <= high:
            raise InvalidInput(
                name,
                f"`{name}` is {value}, which is not between 1 and {high:,}.",
                reason="OUT_OF_RANGE",
            )
    if request.since is not None and request.as_of is not None and request.since >= request.as_of:
        raise InvalidInput(
            "since",
            "`since` is not earlier than `as_of`, so that no time is left between them.",
            reason="OUT_OF_RANGE",
        )
    check_limits(SearchQuery(query=task, cwd=request.cwd, strict_project=request.strict_project))


def _read(
    standings: Sequence[Standing], reader: Reader, project: Project | None, git: GitReader
) -> list[Found]:
    found = []
    for standing in standings:
        one = reader.read(
            standing,
            lambda row: _judged(row, git),
            lambda row: relation_of(row, project),
        )
        if one is not None:
            found.append(one)
    return found


def _judged(row: Row, git: GitReader) -> Judgement:
    on_disk = row.kind is RowKind.DOCUMENT and row.path is not None
    state = git.state(row.path) if on_disk and row.path else FileState.NO_REPOSITORY
    return judge(row.kind, row.path or row.id, generated=row.generated, state=state)


def _notes(found: Sequence[Found], git: GitReader, project: Project | None) -> tuple[str, ...]:
    """What stands above single items: where files could be judged by their kind alone."""
    own = [
        f.row.path for f in found if f.is_document and f.row.path and f.relation is Relation.HERE
    ]
    states = {git.state(path) for path in own}
    if project is not None and not own and not project.is_repository:
        states.add(FileState.NO_REPOSITORY)
    by_kind = (FileState.NO_REPOSITORY, FileState.GIT_UNAVAILABLE)
    return tuple(f"judged_by_kind_{state}" for state in by_kind if state in states)


def _live_files(
    found: Sequence[Found], items: Items, project: Project | None, git: GitReader
) -> tuple[str, ...]:
    """The files that would settle the task: those found, then those that evidence names."""
    here = [f for f in found if f.relation is Relation.HERE]
    ranked = sorted(
        (f for f in here if f.judgement.trust is Trust.LIVE_STATE and f.answers >= ENOUGH),
        key=lambda f: (-f.answers, f.row.id),
    )
    files = dict.fromkeys(path for f in ranked if (path := items.path_of(f)))
    for one in sorted(here, key=lambda f: (-f.answers, f.row.id)):
        if len(files) >= LIVE_FILES or one.answers < ENOUGH:
            break
        if one.judgement.trust is not Trust.DISCOUNTED:
            for path in _PATH.findall(one.text):
                if _is_live(path, project, git):
                    files[path] = None
    return tuple(files)[:LIVE_FILES]


def _is_live(path: str, project: Project | None, git: GitReader) -> bool:
    """Whether *path*, as a text names it, is a file of *project* that can be run or observed."""
    if project is None or ".." in path.split("/"):
        return False
    if judge(RowKind.DOCUMENT, path).trust is not Trust.LIVE_STATE:
        return False
    states = (git.state(f"{root.rstrip('/')}/{path}") for root in sorted(project.roots))
    return any(s is not FileState.DELETED and s is not FileState.UNTRACKED for s in states)


def _receipt(receipt: Receipt) -> PackReceipt:
    return PackReceipt(
        index_generation=receipt.index_generation,
        mode=receipt.mode,
        lanes=tuple(lane.name for lane in receipt.lanes if lane.ran),
        degraded=receipt.degraded,
        degraded_reason=receipt.degraded_reason,
    )


def _identity(pack: ContextPack, request: PackRequest, generation: int) -> str:
    """An id made of what was asked, of the index, and of all that is answered."""
    asked = [
        request.task, request.cwd, request.max_bytes, request.max_per_bucket, request.since,
        request.as_of, request.strict_project, generation,
    ]  # fmt: skip
    text = rendering.dump([asked, rendering.to_dict(pack)])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{MARKER}:{digest[:16]}"
