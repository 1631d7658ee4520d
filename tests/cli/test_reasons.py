"""What the command line says of each reason for which something is not taken."""

from __future__ import annotations

import re
from pathlib import Path

from twolane.cli.totals import REASONS

DAEMON = Path(__file__).parents[2] / "daemon" / "twolaned"
SKIP = re.compile(r'Skip\(\s*"([a-z0-9_]+)"')
CODES = re.compile(r'(?:reason = |return |else |OverBudget\(|counts\[)"([a-z0-9_]{4,})"')

NO_REASONS = {"chat_messages", "thread_name", "thread_name_updated", "thread_rolled_back"}
"""Words of other formats that stand where reasons stand."""


def test_every_reason_has_a_sentence_and_every_sentence_a_reason() -> None:
    used = {"deleted"}
    for file in (DAEMON / "ingest").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        used.update(SKIP.findall(text))
        if "Skip" in text or "OverBudget" in text or file.name == "names.py":
            used.update(code for code in CODES.findall(text) if "_" in code or code in REASONS)
    assert set(REASONS) == used - NO_REASONS
