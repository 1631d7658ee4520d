"""A pack as the JSON that is sent, so that its size can be told before.

The same fields in the same order as in ``twolane.v1.ContextPackResponse``, rendered as the clients
do: compact, defaults printed, no escapes for what is not ASCII.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from twolaned.context.pack import NOTICE, ContextPack, Item, Omission, PackReceipt, Shelf

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_json(pack: ContextPack) -> str:
    """*pack* as compact JSON."""
    return dump(to_dict(pack))


def size(tree: Any) -> int:
    """The bytes of *tree* as compact JSON in UTF-8."""
    return len(dump(tree).encode())


def dump(tree: Any) -> str:
    """*tree* as compact JSON."""
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))


def to_dict(pack: ContextPack) -> dict[str, Any]:
    """*pack* as what `json.dumps` takes."""
    tree: dict[str, Any] = {
        "final": pack.final,
        "pack_id": pack.pack_id,
        "notice": NOTICE,
        "task": pack.task,
        "intent": pack.intent.value,
    }
    _put(tree, "project", pack.project)
    tree["as_of"] = rfc3339(pack.as_of)
    _put(tree, "current_truth_caveat", pack.current_truth_caveat)
    tree["recommended_live_files"] = list(pack.recommended_live_files)
    tree["notes"] = list(pack.notes)
    tree["buckets"] = [shelf_to_dict(shelf) for shelf in pack.shelves]
    tree["truncated"] = pack.truncated
    tree["omitted"] = omitted_to_list(pack.omitted)
    tree["receipt"] = receipt_to_dict(pack.receipt)
    return tree


def shelf_to_dict(shelf: Shelf) -> dict[str, Any]:
    """*shelf* as what `json.dumps` takes."""
    return {"bucket": shelf.bucket.value, "items": [item_to_dict(item) for item in shelf.items]}


def item_to_dict(item: Item) -> dict[str, Any]:
    """*item* as what `json.dumps` takes."""
    tree: dict[str, Any] = {
        "evidence_key": item.evidence_key,
        "trust": item.trust.value,
        "trust_reason": item.trust_reason,
        "quote": item.quote,
    }
    _put(tree, "cut", item.cut or None)
    # 64-bit integers are strings in protobuf's JSON.
    tree["offset"] = str(item.offset)
    tree["relevance"] = item.relevance
    _put(tree, "title", item.title)
    _put(tree, "path", item.path)
    _put(tree, "line", item.line)
    _put(tree, "message", item.message)
    _put(tree, "said_by", item.said_by)
    _put(tree, "at", None if item.at is None else rfc3339(item.at))
    _put(tree, "project", item.project)
    _put(tree, "matched", item.matched)
    if item.supersedes or item.superseded_by is not None or item.disagrees_with is not None:
        contest: dict[str, Any] = {"supersedes": list(item.supersedes)}
        _put(contest, "superseded_by", item.superseded_by)
        _put(contest, "disagrees_with", item.disagrees_with)
        tree["contest"] = contest
    return tree


def omitted_to_list(omitted: Iterable[Omission]) -> list[dict[str, Any]]:
    """*omitted* as what `json.dumps` takes."""
    return [
        {"bucket": one.bucket.value, "reason": one.reason.value, "count": one.count}
        for one in omitted
    ]


def receipt_to_dict(receipt: PackReceipt) -> dict[str, Any]:
    """*receipt* as what `json.dumps` takes: at most 300 bytes."""
    return {
        "index_generation": str(receipt.index_generation),
        "mode": receipt.mode.value,
        "lanes": list(receipt.lanes),
        "degraded": receipt.degraded,
        "degraded_reason": receipt.degraded_reason,
    }


def rfc3339(ms: int) -> str:
    """*ms* since the epoch as protobuf writes a time: with milliseconds only where there are any.

    The time must lie in the years 1 to 9999.
    """
    at = _EPOCH + timedelta(milliseconds=ms)
    day = f"{at.year:04}-{at.month:02}-{at.day:02}"
    fraction = f".{ms % 1000:03}" if ms % 1000 else ""
    return f"{day}T{at.hour:02}:{at.minute:02}:{at.second:02}{fraction}Z"


def _put(tree: dict[str, Any], name: str, value: Any) -> None:
    if value is not None:
        tree[name] = value
