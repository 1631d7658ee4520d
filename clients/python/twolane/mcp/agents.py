"""The agents that the bridge can be set up in: where each keeps its configuration, and its form."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SERVER = "twolane"
"""The name of the entry."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent. *table* is the name of the table that holds an entry for each server."""

    name: str
    title: str
    file: Path
    form: Literal["json", "toml"]
    table: str
    after: str
    typed: bool = False

    def entry(self, command: list[str], env: Mapping[str, str]) -> dict[str, object]:
        """Return the entry that starts *command* with *env* over standard input and output."""
        kind: dict[str, object] = {"type": "stdio"} if self.typed else {}
        with_env: dict[str, object] = {"env": dict(env)} if env else {}
        return kind | {"command": command[0], "args": command[1:]} | with_env


NAMES = ("claude-code", "claude-desktop", "codex", "cursor")
"""The names that ``--client`` takes."""


def agent(name: str, env: Mapping[str, str], *, platform: str = sys.platform) -> Agent:
    """Return the agent called *name*, one of `NAMES`, as its own environment places it."""
    home = Path(env.get("HOME") or Path.home())
    if name == "claude-code":
        folder = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home
        return Agent(
            name, "Claude Code", folder / ".claude.json", "json", "mcpServers",
            "New sessions have it; /mcp shows it.", typed=True,
        )  # fmt: skip
    if name == "claude-desktop":
        if platform == "darwin":
            folder = home / "Library" / "Application Support"
        else:
            folder = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
        return Agent(
            name, "Claude Desktop", folder / "Claude" / "claude_desktop_config.json", "json",
            "mcpServers", "Quit it and start it again.",
        )  # fmt: skip
    if name == "codex":
        folder = Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else home / ".codex"
        return Agent(
            name, "Codex", folder / "config.toml", "toml", "mcp_servers",
            "New sessions have it; `codex mcp list` shows it.",
        )  # fmt: skip
    assert name == "cursor", f"{name} is one of NAMES"
    return Agent(
        name, "Cursor", home / ".cursor" / "mcp.json", "json", "mcpServers",
        "Its settings under MCP show it.",
    )  # fmt: skip


def command() -> list[str]:
    """Return how an agent starts the bridge: by absolute paths, as a desktop has another PATH."""
    script = Path(sys.executable).with_name("twolane")
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script), "mcp"]
    return [sys.executable, "-P", "-m", "twolane", "mcp"]


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of *env* that the bridge needs to find this archive, made absolute."""
    names = ("TWOLANE_CONFIG", "TWOLANE_DATA", "TWOLANE_SOCKET")
    return {name: str(Path(env[name]).expanduser().absolute()) for name in names if env.get(name)}
