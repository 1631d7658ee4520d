from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.context.archive import Archive
from twolaned.context import rendering
from twolaned.context.buckets import ORDER
from twolaned.context.pack import MAX_BYTES, ContextPack, Omitted
from twolaned.model.errors import InvalidInput

WORDS = (
    "queue orders retry we decided must always never TODO postgres redis instead of cache limit"
    ' déjà 队列 出力 \U0001f600 \\ " \n # - ``` > [ ] : 2026-01-05 at most prefer'
).split(" ")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=120).map(" ".join)
NAMES = st.sampled_from(
    ["README.md", "TODO.md", "src/a.py", "conf.json", "docs/x.md", "AGENTS.md", "n/2026-01-02.md"]
)
FOLDERS = st.sampled_from(["/p/one", "/p/two"])


@st.composite
def archives(draw: Callable[..., Any]) -> Archive:
    archive = Archive()
    for number in range(draw(st.integers(0, 8))):
        path = f"{number}/{draw(NAMES)}"
        archive.document(draw(FOLDERS), path, draw(TEXTS) + " queue", project="p")
    for number in range(draw(st.integers(0, 5))):
        turns = draw(st.lists(TEXTS, min_size=1, max_size=4))
        cwd = draw(st.none() | FOLDERS)
        archive.chat(str(number), *turns, cwd=cwd, days_ago=draw(st.integers(0, 99)))
    return archive


def size(pack: ContextPack) -> int:
    return len(rendering.to_json(pack).encode())


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    archives(),
    st.integers(1, MAX_BYTES),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    st.sampled_from([None, "/p/one"]),
    st.integers(1, 10),
)
def test_a_pack_never_exceeds_its_budget(
    archive: Archive, budget: int, words: str, cwd: str | None, most: int
) -> None:
    """Whatever is asked of whatever archive: it fits, is JSON, keeps its order, and says what is
    missing; a budget that nothing fits in is refused, and the size that is named is enough."""
    arguments: dict[str, Any] = {"task": f"queue {words}", "cwd": cwd, "max_per_bucket": most}
    try:
        pack = archive.pack(max_bytes=budget, **arguments)
    except InvalidInput as e:
        smallest = int(e.metadata["smallest"])
        too_small = budget < smallest <= MAX_BYTES
        pack = archive.pack(max_bytes=smallest, **arguments)
        budget = smallest if too_small else 0

    whole = archive.pack(max_bytes=MAX_BYTES, **arguments)
    assert size(pack) <= budget
    assert json.loads(rendering.to_json(pack))["pack_id"] == pack.pack_id
    order = ORDER[pack.intent]
    places = [order.index(shelf.bucket) for shelf in pack.shelves]
    assert places == sorted(set(places))
    assert all(1 <= len(shelf.items) <= most for shelf in pack.shelves)
    dropped = sum(one.count for one in pack.omitted if one.reason is Omitted.BUDGET)
    if not whole.truncated:
        assert len(whole.items) == len(pack.items) + dropped
        assert [i.evidence_key for i in whole.items][: len(pack.items)] == [
            i.evidence_key for i in pack.items
        ]
    assert pack.truncated or not dropped


def test_a_larger_budget_never_says_less() -> None:
    """Items are dropped from the end: a smaller pack is the beginning of a larger one."""
    archive = Archive()
    for number in range(6):
        archive.chat(f"c{number}", f"We decided that queue {number} has {number} workers", "Fine")
    packs = [archive.pack("queue workers", max_bytes=size) for size in range(1_000, 9_000, 250)]

    counts = [len(pack.items) for pack in packs]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_the_last_quotation_is_cut_between_words() -> None:
    """What half fits is shown in part, marked, and the pack says that it was truncated."""
    archive = Archive()
    sentence = "The queue keeps orders in the sequence in which customers have placed them. "
    archive.document("/p/one", "README.md", sentence * 4)
    full = archive.pack("queue orders")

    pack = archive.pack("queue orders", max_bytes=size(full) - 60)

    (item,), (whole,) = pack.items, full.items
    assert item.cut
    assert pack.truncated
    assert whole.quote.startswith(item.quote)
    assert whole.quote[len(item.quote)] == " "


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"task": " "}, "task"),
        ({"task": "x" * 1025}, "task"),
        ({"task": "x", "max_bytes": MAX_BYTES + 1}, "max_bytes"),
        ({"task": "x", "max_bytes": 100}, "max_bytes"),
        ({"task": "x", "max_per_bucket": 11}, "max_per_bucket"),
        ({"task": "x", "cwd": "relative"}, "cwd"),
        ({"task": "x", "strict_project": True}, "cwd"),
        ({"task": "x", "since": 5, "as_of": 5}, "since"),
    ],
)
def test_what_cannot_be_served_is_named(arguments: dict[str, Any], field: str) -> None:
    """Bad input names its field."""
    with pytest.raises(InvalidInput) as caught:
        Archive().pack(**arguments)

    assert field == caught.value.field
