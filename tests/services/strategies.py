"""Every domain type that crosses the API, at random."""

from __future__ import annotations

from hypothesis import strategies as st

from twolaned.model.conversation import MessageKind, Role
from twolaned.model.query import Detail, Filters, RankingDate, Scope, SearchQuery, Similarity
from twolaned.model.report import ImportReport, SkipTotal
from twolaned.model.result import (
    FoundBy,
    LaneReceipt,
    Receipt,
    ScoreParts,
    SearchAnswer,
    SearchMode,
    SearchResult,
    Snippet,
    SourceLag,
    Span,
)
from twolaned.model.row import MessageSpan, PassageKind, Quality, RowKind, Tier
from twolaned.model.source import Extraction, Source, SourceScope
from twolaned.search.evidence import MAX_PAGE, EvidenceForm, OpenedEvidence
from twolaned.services.convert_evidence import Opening
from twolaned.services.daemon_status import (
    DaemonStatus,
    LaneStatus,
    RecentError,
    SourceCount,
    TierCount,
)
from twolaned.writer.protocol import Save, Saved

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
maybe_text = st.none() | some_text
"""Empty stands for absent on the wire, so that no domain value is both."""
filled = some_text.filter(str.strip)
time = st.integers(-62_135_596_800_000, 253_402_300_799_999)
maybe_time = st.none() | time
int32 = st.integers(0, (1 << 31) - 1)
int64 = st.integers(0, (1 << 63) - 1)
uint64 = st.integers(0, (1 << 64) - 1)
span = st.integers(-(10**15), 10**15)
number = st.floats(allow_nan=False)
maybe_path = st.none() | some_text.map(lambda name: "/" + name.replace("\0", ""))


def some(item: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """A few of *item*."""
    return st.lists(item, max_size=3).map(tuple)


filters = st.builds(
    Filters,
    scope=st.sampled_from(Scope),
    sources=some(text),
    domain=maybe_text,
    intent=maybe_text,
    qualities=some(st.sampled_from(Quality)),
    topic=maybe_text,
    decision=maybe_text,
    client=maybe_text,
    since=maybe_time,
    before=maybe_time,
)


@st.composite
def queries(draw: st.DrawFn) -> SearchQuery:
    """A query that the API accepts."""
    cwd = draw(maybe_path)
    return SearchQuery(
        query=draw(text),
        top_k=draw(st.integers(1, 200)),
        filters=draw(filters),
        cwd=cwd,
        strict_project=cwd is not None and draw(st.booleans()),
        detail=draw(st.sampled_from(Detail)),
        explain=draw(st.booleans()),
        similarity=draw(st.none() | st.sampled_from(Similarity)),
    )


snippets = st.builds(
    Snippet,
    text=text,
    matches=some(st.builds(Span, int32, int32)),
    offset=int64,
    length=int64,
)
parts = st.builds(
    ScoreParts,
    similarity=number,
    recency=number,
    quality=number,
    tier=number,
    outcome=number,
    found_both_ways=number,
    freshness=number,
    bm25=st.none() | number,
    cosine=st.none() | number,
)
results = st.builds(
    SearchResult,
    id=text,
    evidence_key=text,
    kind=st.sampled_from(RowKind),
    tier=st.sampled_from(Tier),
    source=text,
    title=text,
    project=maybe_text,
    path=maybe_text,
    quality=st.sampled_from(Quality),
    generated=st.booleans(),
    score=number,
    found_by=st.sampled_from(FoundBy),
    snippet=snippets,
    passage_kind=st.sampled_from(PassageKind),
    passage_offset=int64,
    passage_length=int64,
    summary=text,
    content_bytes=int64,
    token_estimate=int64,
    indexed_at=time,
    occurred_at=maybe_time,
    duplicate_count=int32,
    duplicate_ids=some(text),
    parts=st.none() | parts,
)
receipts = st.builds(
    Receipt,
    index_generation=uint64,
    mode=st.sampled_from(SearchMode),
    similarity=st.sampled_from(Similarity),
    ranking_date=st.sampled_from(RankingDate),
    lanes=some(
        st.builds(
            LaneReceipt,
            name=text,
            ran=st.booleans(),
            took_us=span,
            candidates=int32,
            skipped_because=text,
        )
    ),
    tiers_searched=some(st.sampled_from(Tier)),
    rows_in_reach=int64,
    second_pass=st.booleans(),
    lags=some(
        st.builds(
            SourceLag,
            source=text,
            last_scanned_at=maybe_time,
            pending_files=st.integers(-1, 1 << 40),
        )
    ),
    degraded=st.booleans(),
    degraded_reason=text,
    degraded_message=text,
    took_us=span,
)
answers = st.builds(
    SearchAnswer,
    results=some(results),
    receipt=receipts,
    final=st.booleans(),
    ignored=some(text),
)
skips = st.builds(
    SkipTotal,
    reason=text,
    detail=text,
    count=int64,
    size=int64,
    examples=st.lists(text, max_size=3),
)
reports = st.builds(
    ImportReport,
    provider=text,
    files_seen=int64,
    files_unchanged=int64,
    bytes_seen=int64,
    bytes_total=int64,
    bytes_indexed=int64,
    rows_new=int64,
    rows_replaced=int64,
    rows_unchanged=int64,
    rows_removed=int64,
    conversations=int64,
    documents=int64,
    messages=int64,
    passages=int64,
    current=text,
    skips=st.lists(skips, max_size=3).map(lambda all_: {(s.reason, s.detail): s for s in all_}),
)
sources = st.builds(
    Source,
    id=text,
    path=text,
    extraction=st.sampled_from(Extraction),
    scope=st.sampled_from(SourceScope),
    client_name=text,
    exclude=some(text),
    documents=int64,
    last_scanned_at=maybe_time,
    skips=some(skips),
    last_error=text,
)
saves = st.builds(
    Save,
    source=st.from_regex(r"[a-zé.-]{1,64}", fullmatch=True),
    summary=filled,
    content=text,
    title=text,
    decisions=some(text),
    key_outputs=some(text),
    topics=some(text),
    domain=maybe_text,
    intent=maybe_text,
    client=maybe_text,
    cwd=maybe_path,
    occurred_at=maybe_time,
    idempotency_key=maybe_text,
    replace_idempotency_key=maybe_text,
    quality=st.sampled_from(Quality),
)
saved = st.builds(
    Saved,
    id=text,
    outcome=st.sampled_from(["created", "replaced", "unchanged"]),
    quality=st.sampled_from(Quality),
    warnings=some(text),
)
statuses = st.builds(
    DaemonStatus,
    version=text,
    pid=int64,
    started_at=time,
    uptime_us=span,
    start_up_us=span,
    data_path=text,
    endpoint=text,
    config_path=text,
    format_version=int32,
    index_generation=uint64,
    tiers=some(st.builds(TierCount, st.sampled_from(RowKind), st.sampled_from(Tier), int64)),
    sources=some(st.builds(SourceCount, text, int64, maybe_time)),
    passages=int64,
    segments=int32,
    memtable_passages=int64,
    terms=int64,
    disk_bytes=int64,
    disk_free_bytes=int64,
    memory_bytes=int64,
    lanes=some(st.builds(LaneStatus, text, text, text)),
    mode=st.sampled_from(SearchMode),
    similarity=st.sampled_from(Similarity),
    ranking_date=st.sampled_from(RankingDate),
    writer_state=text,
    writer_activity=text,
    recent_errors=some(st.builds(RecentError, time, text, text)),
    next_action=text,
    searches=int64,
    protocol=int32,
)
openings = st.builds(
    Opening,
    id=filled,
    form=st.sampled_from(EvidenceForm),
    offset=int64,
    max_bytes=st.integers(0, MAX_PAGE),
)
evidence = st.builds(
    OpenedEvidence,
    id=text,
    evidence_key=text,
    kind=st.sampled_from(RowKind),
    tier=st.sampled_from(Tier),
    source=text,
    title=text,
    content=text,
    offset=int64,
    next_offset=int64,
    content_bytes=int64,
    indexed_at=time,
    omitted_bytes=int64,
    messages=some(
        st.builds(
            MessageSpan,
            offset=int64,
            length=int64,
            role=st.sampled_from(Role),
            kind=st.sampled_from(MessageKind),
            native_id=maybe_text,
            at=maybe_time,
            on_main_line=st.booleans(),
            speaker=maybe_text,
        )
    ),
    project=maybe_text,
    cwd=maybe_text,
    path=maybe_text,
    quality=st.sampled_from(Quality),
    summary=text,
    occurred_at=maybe_time,
    created_at=maybe_time,
    message_count=int32,
    parent_id=maybe_text,
    forked_from_id=maybe_text,
    decisions=some(text),
    key_outputs=some(text),
    topics=some(text),
    git_branch=maybe_text,
)
