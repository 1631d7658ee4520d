"""What Codex puts beside and around the person's words."""

from __future__ import annotations

import re

ENVELOPES = (
    "environment_context",
    "user_instructions",
    "INSTRUCTIONS",
    "turn_aborted",
    "subagent_notification",
    "goal_context",
    "codex_internal_context",
    "recommended_plugins",
    "skill",
    "permissions instructions",
    "hook_prompt",
    "user_shell_command",
    "user_action",
)
"""Elements that the tool wrote; a real prompt may follow one in the same block."""

_ENVELOPE = re.compile(
    r"\A\s*(?:"
    + "|".join(rf"<{re.escape(name)}\b[^>]*>.*?(?:</{re.escape(name)}>|\Z)" for name in ENVELOPES)
    + r"|# AGENTS\.md instructions[^\n]*\n\s*<INSTRUCTIONS>.*?(?:</INSTRUCTIONS>|\Z))",
    re.DOTALL,
)
_REQUEST = "## My request for Codex:"


def asked(block: str) -> str:
    """What the person said in *block*; empty where it was not them."""
    while (found := _ENVELOPE.match(block)) is not None:
        block = block[found.end() :]
    if _REQUEST in block:
        block = block.partition(_REQUEST)[2]
    block = block.strip()
    return "" if block.startswith("# AGENTS.md") else block
