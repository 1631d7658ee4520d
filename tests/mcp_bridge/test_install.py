"""`twolane mcp install`: the agents' own files, edited whole or not at all."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.client.fixtures import short as short
from twolane.errors import TryAgain
from twolane.mcp import agents
from twolane.mcp import install as edits

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def entry(file: Path) -> dict[str, object]:
    text = file.read_text(encoding="utf-8")
    whole = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    servers = whole["mcp_servers" if file.suffix == ".toml" else "mcpServers"]
    found: dict[str, object] = servers["twolane"]
    return found


def test_every_client_is_known() -> None:
    """The command offers what there is."""
    from twolane.cli.commands.mcp import CLIENTS

    assert agents.NAMES == CLIENTS
    assert set(FILES) == set(CLIENTS)


@pytest.mark.parametrize("client", agents.NAMES)
def test_an_agent_without_a_configuration_gets_one(run: Run, home: Path, client: str) -> None:
    """With the command by its absolute path, and the archive's places of this shell."""
    ended = run("mcp", "install", "--client", client)

    file = home / FILES[client]
    made = entry(file)
    command = [made["command"], *made["args"]]  # type: ignore[misc]
    assert 0 == ended.code
    assert f"{file}\n" == ended.out
    assert agents.command() == command
    assert Path(str(made["command"])).is_absolute()
    assert os.environ["TWOLANE_DATA"] == made["env"]["TWOLANE_DATA"]  # type: ignore[index]
    assert ("stdio" if client == "claude-code" else None) == made.get("type")
    assert 0o600 == file.stat().st_mode & 0o777
    assert [file] == list(file.parent.glob(f"{file.name}*"))


@pytest.mark.parametrize("client", agents.NAMES)
def test_installing_twice_changes_nothing(run: Run, home: Path, client: str) -> None:
    """Not the file, and no second copy of it."""
    run("mcp", "install", "--client", client)
    file = home / FILES[client]
    before = file.read_bytes(), file.stat().st_mtime_ns

    ended = run("mcp", "install", "--client", client)

    assert 0 == ended.code
    assert "Nothing changed" in ended.err
    assert before == (file.read_bytes(), file.stat().st_mtime_ns)


def test_the_rest_stays_and_a_copy_is_kept(run: Run, home: Path) -> None:
    """Mode, other servers, and what the file was before."""
    file = home / ".claude.json"
    text = '{\n  "numStartups": 12,\n  "mcpServers": {\n    "x": {"command": "y"}\n  }\n}\n'
    file.write_text(text)
    file.chmod(0o640)

    ended = run("mcp", "install", "--client", "claude-code", "--json")

    (said,) = ended.objects
    whole = json.loads(file.read_text())
    assert "installed" == said["outcome"]
    assert text == Path(said["backup"]).read_text()
    assert {"command": "y"} == whole["mcpServers"]["x"]
    assert 12 == whole["numStartups"]
    assert 0o640 == file.stat().st_mode & 0o777

    run("mcp", "uninstall", "--client", "claude-code")

    assert text == file.read_text()


def test_a_dry_run_writes_nothing(run: Run, home: Path) -> None:
    """It shows the difference."""
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text("# mine\n")

    ended = run("mcp", "install", "--client", "codex", "--dry-run")

    assert "+[mcp_servers.twolane]" in ended.out
    assert "# mine\n" == file.read_text()
    assert [file] == list(file.parent.iterdir())


@pytest.mark.parametrize("data", [b"{ // comments\n}", b"\xff\xfe{}"])
def test_what_cannot_be_read_is_left_alone(run: Run, home: Path, data: bytes) -> None:
    """The error says why, and what to add by hand."""
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(data)

    ended = run("mcp", "install", "--client", "cursor")

    assert 1 == ended.code
    assert "left as it is" in ended.err
    assert '"mcpServers"' in ended.err
    assert data == file.read_bytes()
    assert [file] == list(file.parent.iterdir())


def test_a_link_stays_a_link(run: Run, home: Path) -> None:
    """Its target is edited where it lies."""
    kept = home / "dotfiles" / "cursor.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(kept)

    assert 0 == run("mcp", "install", "--client", "cursor").code

    assert link.is_symlink()
    assert "command" in entry(kept)


def test_a_byte_order_mark_stays(run: Run, home: Path) -> None:
    """As some editors on other systems write it."""
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')

    assert 0 == run("mcp", "install", "--client", "cursor").code

    assert file.read_bytes().startswith(b'\xef\xbb\xbf{"a": 1')


def test_a_change_by_another_program_is_not_lost(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent may write its file at the same moment: then nothing of ours is written."""
    agent = agents.agent("claude-code", os.environ)
    agent.file.write_text("{}")
    backup = edits._backup

    def meanwhile(file: Path, data: bytes) -> Path:
        file.write_text('{"theirs": 1}')
        return backup(file, data)

    monkeypatch.setattr(edits, "_backup", meanwhile)

    with pytest.raises(TryAgain, match="changed by another program"):
        edits.install(agent, agent.entry(["twolane", "mcp"], {}))
    assert '{"theirs": 1}' == agent.file.read_text()
    assert [] == [file for file in home.iterdir() if file.name.startswith("..claude.json")]


@pytest.mark.parametrize(
    ("variable", "client", "file"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", ".claude.json"),
        ("CODEX_HOME", "codex", "config.toml"),
        ("XDG_CONFIG_HOME", "claude-desktop", "Claude/claude_desktop_config.json"),
    ],
)
def test_agents_are_looked_for_where_they_look(
    home: Path, variable: str, client: str, file: str
) -> None:
    """Their own variables move their files."""
    env = {"HOME": str(home), variable: str(home / "elsewhere")}

    assert home / "elsewhere" / file == agents.agent(client, env, platform="linux").file


def test_a_mac_has_its_own_place(home: Path) -> None:
    """Of the one agent that has no file below the home folder's dot folders."""
    found = agents.agent("claude-desktop", {"HOME": "/Users/x"}, platform="darwin").file

    assert Path("/Users/x/Library/Application Support/Claude/claude_desktop_config.json") == found


def test_without_the_extra_it_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is written."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    find = "twolane.cli.commands.mcp.importlib.util.find_spec"
    monkeypatch.setattr(find, lambda name: None if name == "mcp" else object())

    for arguments in (["mcp"], ["mcp", "install", "--client", "codex"]):
        ended = run(*arguments)

        assert 1 == ended.code
        assert "pip install 'twolane[mcp]'" in ended.err
