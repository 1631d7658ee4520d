"""Making a pack fit: what is dropped is dropped from the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from twolaned.context import rendering
from twolaned.context.pack import (
    CAVEAT,
    MAX_BYTES,
    Bucket,
    ContextPack,
    Item,
    Omission,
    Omitted,
    Shelf,
    Trust,
)
from twolaned.model.errors import InvalidInput
from twolaned.search import words

SHORTEST_QUOTE: Final = 80
"""Characters of the last quotation that are worth keeping where it has to be cut."""


def fit(pack: ContextPack, max_bytes: int) -> ContextPack:
    """*pack* with items dropped from its end, the last one that stays cut between words.

    Its compact JSON is at most *max_bytes* of UTF-8. Where nothing that can be observed stays, the
    pack gets its caveat. Raises InvalidInput where not even the empty pack fits; it names the size
    of that.
    """
    fitted = _fit(pack, max_bytes)
    if pack.current_truth_caveat is None and not stands_on_live_state(fitted.shelves):
        fitted = _fit(replace(pack, current_truth_caveat=CAVEAT), max_bytes)
    return fitted


def stands_on_live_state(shelves: Sequence[Shelf]) -> bool:
    """Whether what is said to be true now has an item that can be run or observed."""
    return any(
        item.trust is Trust.LIVE_STATE
        for shelf in shelves
        if shelf.bucket is Bucket.CURRENT_TRUTH
        for item in shelf.items
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    bucket: Bucket
    item: Item


def _fit(pack: ContextPack, max_bytes: int) -> ContextPack:
    placed = [_Placed(shelf.bucket, item) for shelf in pack.shelves for item in shelf.items]
    sizes = [rendering.size(rendering.item_to_dict(one.item)) for one in placed]
    head = _head(pack, max_bytes)
    empty = rendering.size(
        rendering.to_dict(replace(head, shelves=(), omitted=(), truncated=False))
    )
    count = len(placed)
    while count and _size(head, placed, sizes, count, empty) > max_bytes:
        count -= 1
    kept = list(placed[:count])
    if count < len(placed):
        spare = max_bytes - _size(head, placed, sizes, count + 1, empty)
        last = _shortened(placed[count].item, sizes[count] + spare)
        if last is not None:
            kept.append(_Placed(placed[count].bucket, last))
    fitted = _assembled(head, placed, kept)
    # The sum of the parts is exact; this is the promise, whatever a later field may do to the sum.
    while kept and rendering.size(rendering.to_dict(fitted)) > max_bytes:
        kept.pop()
        fitted = _assembled(head, placed, kept)
    return fitted


def _head(pack: ContextPack, max_bytes: int) -> ContextPack:
    """*pack* with as much of its head as fits even if no item does."""
    while (smallest := _size_without_items(pack)) > max_bytes:
        if pack.recommended_live_files:
            pack = replace(pack, recommended_live_files=pack.recommended_live_files[:-1])
        elif pack.notes:
            pack = replace(pack, notes=pack.notes[:-1])
        elif any(one.reason is Omitted.LOW_RELEVANCE for one in pack.omitted):
            # What the budget cost must be said, what hardly mattered need not.
            kept = (one for one in pack.omitted if one.reason is not Omitted.LOW_RELEVANCE)
            pack = replace(pack, omitted=tuple(kept))
        else:
            raise InvalidInput(
                "max_bytes",
                f"`max_bytes` is {max_bytes:,}, and a pack on this task that quotes nothing has"
                f" {smallest:,} bytes. Give at least that and at most {MAX_BYTES:,}.",
                reason="TOO_SMALL",
                smallest=str(smallest),
                limit=str(MAX_BYTES),
            )
    return pack


def _size_without_items(pack: ContextPack) -> int:
    """The bytes of *pack* with all items dropped, and with the caveat that it then gets."""
    placed = [_Placed(shelf.bucket, item) for shelf in pack.shelves for item in shelf.items]
    empty = _assembled(replace(pack, current_truth_caveat=CAVEAT), placed, [])
    return rendering.size(rendering.to_dict(empty))


def _size(
    head: ContextPack, placed: Sequence[_Placed], sizes: Sequence[int], count: int, empty: int
) -> int:
    """The bytes of the pack with the first *count* items."""
    buckets = list(dict.fromkeys(one.bucket for one in placed[:count]))
    total = empty + sum(sizes[:count])
    # {"bucket":"…","items":[…]} for each, and the commas between shelves and between items.
    total += sum(len('{"bucket":"","items":[]}') + len(bucket.value) for bucket in buckets)
    total += max(len(buckets) - 1, 0) + count - len(buckets)
    omitted = _omissions(head, placed[count:])
    if omitted:
        total += rendering.size(rendering.omitted_to_list(omitted)) - len("[]")
    if _is_truncated(head, placed[count:], cut=False):
        total -= len("false") - len("true")
    return total


def _assembled(
    head: ContextPack, placed: Sequence[_Placed], kept: Sequence[_Placed]
) -> ContextPack:
    shelves = tuple(
        Shelf(bucket, tuple(one.item for one in items))
        for bucket, items in groupby(kept, key=lambda one: one.bucket)
    )
    dropped = placed[len(kept) :]
    cut = bool(kept) and kept[-1] != placed[len(kept) - 1]
    return replace(
        head,
        shelves=shelves,
        omitted=_omissions(head, dropped),
        truncated=_is_truncated(head, dropped, cut=cut),
    )


def _is_truncated(head: ContextPack, dropped: Sequence[_Placed], *, cut: bool) -> bool:
    return head.truncated or bool(dropped) or cut


def _omissions(head: ContextPack, dropped: Sequence[_Placed]) -> tuple[Omission, ...]:
    counts = Counter(one.bucket for one in dropped)
    return (
        *head.omitted,
        *(Omission(bucket, Omitted.BUDGET, counts[bucket]) for bucket in counts),
    )


def _shortened(item: Item, room: int) -> Item | None:
    """*item* with its quotation cut between words to fit *room* bytes; None where too little is."""
    low, high = SHORTEST_QUOTE, len(item.quote) - 1
    best: Item | None = None
    while low <= high:
        middle = (low + high) // 2
        quote = item.quote[: words.cut_before(item.quote, middle)].rstrip()
        shorter = replace(item, quote=quote, cut=True)
        if rendering.size(rendering.item_to_dict(shorter)) <= room:
            best = shorter if quote else best
            low = middle + 1
        else:
            high = middle - 1
    return best
