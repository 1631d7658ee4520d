"""Rating a conversation without a model, by what it holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from twolaned.model.conversation import Message, MessageKind
from twolaned.model.row import Quality

SUBSTANTIAL = 1_500
"""Characters of talk from which on a conversation with a decision counts as high."""
LONG = 6_000
"""Characters of talk that count as high where both sides spoke more than once."""
THIN = 200
"""Characters of talk below which a conversation counts as low."""

_TALK = (MessageKind.HUMAN, MessageKind.ASSISTANT)
_DECIDED = re.compile(
    r"\b(decid|decision|we(?:'ll| will) (?:use|go)|let'?s (?:use|go with)|instead of|ruled out|"
    r"trade-?off|chose|conclusion|root cause|because)",
    re.IGNORECASE,
)


def rate(messages: Sequence[Message]) -> Quality:
    """High, medium or low for a conversation of *messages*.

    Low: hardly a word, or only one side spoke. High: long talk of both, or a decision with its
    reasons. A rating never hides a row; it moves the score by a few hundredths.
    """
    talk = [m for m in messages if m.kind in _TALK and m.on_main_line]
    sizes = {kind: sum(len(m.text) for m in talk if m.kind is kind) for kind in _TALK}
    total = sum(sizes.values())
    if total < THIN or not all(sizes.values()):
        return Quality.LOW
    asked = sum(m.kind is MessageKind.HUMAN for m in talk)
    if total >= LONG and asked > 1:
        return Quality.HIGH
    if total >= SUBSTANTIAL and any(_DECIDED.search(m.text) for m in talk):
        return Quality.HIGH
    return Quality.MEDIUM
