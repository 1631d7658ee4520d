"""What Claude Code writes into a session that nobody said, and what the person said inside it."""

from __future__ import annotations

import re

NOT_SAID = (
    "<local-command-",
    "<task-notification>",
    "[Request interrupted",
    "Stop hook feedback:",
    "Caveat:",
    "<bash-stdout>",
    "<bash-stderr>",
    "This session is being continued",
    "<command-message>",
    "<user-memory-input>",
    "<teammate-message",
    "<user-prompt-submit-hook>",
    "<system-reminder>",
)
"""What a user line begins with that the tool wrote."""

WRAPPERS = (
    "system-reminder",
    "ide_selection",
    "ide_opened_file",
    "ide_diagnostics",
    "post-tool-use-hook",
)
"""Elements that the tool puts around or between the person's words."""

LINE_TYPES = frozenset(
    {
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "summary",
        "custom-title",
        "ai-title",
        "last-prompt",
        "queue-operation",
        "file-history-snapshot",
        "tag",
        "agent-name",
        "agent-color",
        "agent-setting",
        "mode",
        "permission-mode",
        "pr-link",
        "content-replacement",
        "worktree-state",
        "saved_hook_context",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "attribution-snapshot",
        "speculation-accept",
    }
)
"""Types of lines that are known; another is counted, so that a new one is noticed."""

_FIRST = tuple(start[0] for start in NOT_SAID)

_WRAPPED = {name: re.compile(rf"<{name}\b[^<>]*>.*?</{name}>", re.DOTALL) for name in WRAPPERS}
_COMMAND = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_SHELL = re.compile(r"\A<bash-input>(.*?)</bash-input>", re.DOTALL)


def said(text: str) -> str:
    """What the person said in *text*, the words of a user line; empty where it was not them."""
    if "<" in text:
        text = _unwrapped(text)
    text = text.strip()
    if not text.startswith(_FIRST):
        return text
    command = _COMMAND.search(text)
    if command is not None and text.startswith("<command-"):
        arguments = _ARGUMENTS.search(text)
        words = arguments[1] if arguments else ""
        return f"{command[1]} {words}" if words else ""
    shell = _SHELL.match(text)
    if shell is not None:
        return f"! {shell[1].strip()}"
    return "" if text.startswith(NOT_SAID) else text


def _unwrapped(text: str) -> str:
    """*text* without the tool's elements. A tag that is never closed is a word of the person's."""
    for name, wrapped in _WRAPPED.items():
        # Behind the last closing tag nothing can match, and looking there would take for ever.
        before, closing, after = text.rpartition(f"</{name}>")
        if closing:
            text = wrapped.sub("", before + closing) + after
    return text
