from __future__ import annotations

import pytest

from twolaned.context.echo import is_echo, overlaps
from twolaned.context.pack import NOTICE

PACK = (
    '{"final":true,"pack_id":"twolane-context-pack:0123456789abcdef","notice":"'
    + NOTICE
    + '","buckets":[{"bucket":"decisions","items":[{"evidence_key":"document:/p:a","trust":'
    '"tracker","trust_reason":"state_file","quote":"x"}]}]}'
)


@pytest.mark.parametrize(
    "text",
    [
        PACK,
        PACK.replace('"', '\\"'),
        PACK.replace('"', '\\\\\\"'),
        PACK.replace("twolane-context-pack", "id"),
        PACK[PACK.index('"items"') :],
        f"Here is what I know:\n\n{NOTICE}\n\n- `TODO.md:7`",
        NOTICE.replace(" ", "\n"),
        "`twolane-context-pack:0123456789abcdef`",
        "{'evidence_key': 'a', 'trust': 'b', 'quote': 'c'}",
    ],
)
def test_a_pack_is_known_in_any_wrapping(text: str) -> None:
    """Whole, escaped, without its id, in part, as Markdown, as Python prints it."""
    assert is_echo(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We trust the quote of the archive.",
        "The id begins with twolane-context-pack.",
        'A field "trust": and a field "quote": are in the proto.',
        "Quotes are recalled from memory.",
    ],
)
def test_talk_about_packs_is_none(text: str) -> None:
    """Naming a field or two does not make a pack."""
    assert not is_echo(text)


def test_spans_that_touch_do_not_overlap() -> None:
    """The byte behind a span belongs to it no more."""
    assert overlaps(5, 2, [(6, 9)])
    assert not overlaps(5, 1, [(6, 9)])
    assert not overlaps(9, 1, [(6, 9)])
