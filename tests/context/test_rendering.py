from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twolane.render import to_json
from twolaned.context import rendering
from twolaned.context.pack import (
    CAVEAT,
    Bucket,
    ContextPack,
    Intent,
    Item,
    Omission,
    Omitted,
    PackReceipt,
    Shelf,
    Trust,
)
from twolaned.model.result import SearchMode
from twolaned.services.convert_pack import pack_to_proto

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
MAYBE_TEXT = st.none() | TEXT
TIMES = st.integers(-62_135_596_800_000, 253_402_300_799_999)
ITEMS = st.builds(
    Item,
    evidence_key=TEXT,
    trust=st.sampled_from(Trust),
    trust_reason=TEXT,
    quote=TEXT,
    offset=st.integers(0, 2**40),
    relevance=st.integers(0, 1000).map(lambda n: n / 1000),
    cut=st.booleans(),
    title=MAYBE_TEXT,
    path=MAYBE_TEXT,
    line=st.none() | st.integers(1, 2**31 - 1),
    message=MAYBE_TEXT,
    said_by=MAYBE_TEXT,
    at=st.none() | TIMES,
    project=MAYBE_TEXT,
    matched=MAYBE_TEXT,
    supersedes=st.lists(TEXT, max_size=2).map(tuple),
    superseded_by=MAYBE_TEXT,
    disagrees_with=MAYBE_TEXT,
)
PACKS = st.builds(
    ContextPack,
    pack_id=TEXT,
    task=TEXT,
    intent=st.sampled_from(Intent),
    as_of=TIMES,
    receipt=st.builds(
        PackReceipt,
        index_generation=st.integers(0, 2**63),
        mode=st.sampled_from(SearchMode),
        lanes=st.lists(TEXT, max_size=2).map(tuple),
        degraded=st.booleans(),
        degraded_reason=TEXT,
    ),
    final=st.booleans(),
    project=MAYBE_TEXT,
    current_truth_caveat=st.sampled_from([None, CAVEAT]),
    recommended_live_files=st.lists(TEXT, max_size=3).map(tuple),
    notes=st.lists(TEXT, max_size=2).map(tuple),
    shelves=st.lists(
        st.builds(
            Shelf, st.sampled_from(Bucket), st.lists(ITEMS, min_size=1, max_size=3).map(tuple)
        ),
        max_size=3,
    ).map(tuple),
    truncated=st.booleans(),
    omitted=st.lists(
        st.builds(Omission, st.sampled_from(Bucket), st.sampled_from(Omitted), st.integers(1, 999)),
        max_size=3,
    ).map(tuple),
)


@given(PACKS)
def test_what_is_measured_is_what_clients_print(pack: ContextPack) -> None:
    """The JSON that the budget counts is byte for byte that of the message."""
    assert to_json(pack_to_proto(pack)) == rendering.to_json(pack)
