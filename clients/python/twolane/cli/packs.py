"""Context packs for people, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from twolane.cli import phrases, text
from twolane.words import word

if TYPE_CHECKING:
    from twolane.v1.context_service_pb2 import ContextPackResponse, PackItem, PackOmission


def markdown(pack: ContextPackResponse) -> Iterator[str]:
    """Yield the lines of *pack*. Quotations are block quotes: none of their lines begins another
    part of the text.
    """
    from twolane.v1 import context_service_pb2 as pb

    intent = word(pb.Intent.DESCRIPTOR, pack.intent).replace("_", " ")
    project = f"project {text.line(pack.project)}" if pack.project else ""
    as_of = phrases.moment_of(pack, "as_of")
    yield f"# {text.line(pack.task)}"
    yield ""
    yield phrases.joined((intent, project, f"as of {phrases.minute(as_of)}" if as_of else ""))
    yield f"`{text.line(pack.pack_id)}`"
    yield text.line(pack.notice)
    if pack.current_truth_caveat:
        yield f"**Current truth: {text.line(pack.current_truth_caveat)}.**"
    for note in pack.notes:
        yield text.line(note).replace("_", " ").capitalize() + "."
    if pack.recommended_live_files:
        yield ""
        yield "Files that would settle it: " + phrases.listed(
            _code(path) for path in pack.recommended_live_files
        )
    for bucket in pack.buckets:
        yield ""
        yield "## " + word(pb.Bucket.DESCRIPTOR, bucket.bucket).replace("_", " ").capitalize()
        for item in bucket.items:
            yield ""
            yield from _item(item)
    if pack.omitted:
        yield ""
        yield "Left out: " + phrases.listed(_omission(one) for one in pack.omitted) + "."


def _item(item: PackItem) -> Iterator[str]:
    from twolane.v1 import context_service_pb2 as pb

    trust = word(pb.Trust.DESCRIPTOR, item.trust).replace("_", " ")
    moment = phrases.moment_of(item, "at")
    yield "- " + phrases.joined(
        (
            _place(item),
            f"{trust} ({text.line(item.trust_reason).replace('_', ' ')})",
            phrases.day(moment) if moment else "",
            f"project {text.line(item.project)}" if item.project else "",
            f"{text.line(item.matched)} terms" if item.matched else "",
        )
    )
    for line in text.block(item.quote).split("\n"):
        yield f"  > {line}".rstrip()
    for place in item.contest.supersedes:
        yield f"  Replaces {_code(place)}."
    if item.contest.superseded_by:
        yield f"  Replaced by {_code(item.contest.superseded_by)}."
    if item.contest.disagrees_with:
        yield f"  Disagrees with {_code(item.contest.disagrees_with)}."
    yield f"  {_code(item.evidence_key)}"


def _place(item: PackItem) -> str:
    if item.path:
        return _code(f"{item.path}:{item.line}" if item.line else item.path)
    said = f", {text.line(item.said_by)}" if item.said_by else ""
    return f"{_code(item.title or item.evidence_key)}{said}"


def _code(said: str) -> str:
    """Return *said* as code: a name that holds a backtick cannot end it."""
    return "`" + text.line(said).replace("`", "'") + "`"


def _omission(one: PackOmission) -> str:
    from twolane.v1 import context_service_pb2 as pb

    bucket = word(pb.Bucket.DESCRIPTOR, one.bucket).replace("_", " ")
    reason = word(pb.OmissionReason.DESCRIPTOR, one.reason).replace("_", " ")
    return f"{one.count} of {bucket} ({reason})"
