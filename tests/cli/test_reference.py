from __future__ import annotations

import subprocess
import sys

import click
import pytest

from tests.architecture.rooms import ROOT
from tests.cli.conftest import Run
from twolane.cli.app import COMMANDS, root
from twolane.cli.exits import MEANINGS, ExitCode
from twolane.cli.reference import commands, reference

EVERY = [pytest.param(name, command, id=name) for name, command, _ in commands()]


def test_the_reference_is_current() -> None:
    """docs/cli.md is what the commands say of themselves."""
    stored = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

    assert reference() == stored, "Run: python -m twolane.cli.reference > docs/cli.md"


@pytest.mark.parametrize(("name", "command"), EVERY)
def test_every_command_is_documented(name: str, command: click.Command) -> None:
    """No command is missing from the reference."""
    assert command is root or f"### `{name}`" in reference()


@pytest.mark.parametrize(("name", "command"), EVERY)
def test_every_command_and_option_has_help(name: str, command: click.Command) -> None:
    """A newcomer finds a sentence for everything."""
    assert command.help
    assert command.get_short_help_str(limit=200)[0].isupper()
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"


@pytest.mark.parametrize(("name", "command"), EVERY)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_explains_itself(
    run: Run, name: str, command: click.Command, flag: str
) -> None:
    """-h and --help print to standard output, with no daemon about."""
    ended = run(*name.split()[1:], flag)

    assert 0 == ended.code
    assert ended.out.startswith("Usage: twolane")
    assert "" == ended.err


def test_help_fits_the_terminal(run: Run) -> None:
    """The overview and the longest help text keep to 80 columns, but for examples."""
    for arguments in (["--help"], ["search", "--help"]):
        lines = run(*arguments).out.splitlines()

        assert [] == [line for line in lines if len(line) > 80 and "  twolane " not in line]


def test_the_overview_names_every_command(run: Run) -> None:
    """The sentences of the overview are those of the commands."""
    out = run("--help").out

    for name, (_, sentence) in COMMANDS.items():
        assert f"  {name} " in out
        command = root.get_command(click.Context(root), name)
        assert command is not None
        assert (command.help or "").startswith(sentence.rstrip(".")), name


def test_every_exit_code_has_a_meaning() -> None:
    """The table is complete."""
    assert set(ExitCode) == set(MEANINGS)


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["search", "--help"], ["up", "--help"], ["completion", "bash"]],
)
def test_what_needs_no_daemon_is_light(arguments: list[str]) -> None:
    """Neither gRPC nor rich is loaded for help, the version or completion."""
    script = (
        "import sys; from twolane.cli import main; code = main(sys.argv[1:])\n"
        "print(code, *[m for m in ('grpc', 'google.protobuf', 'rich') if m in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "0" == done.stderr.strip()


def test_no_arguments_print_help(run: Run) -> None:
    """Without a command the overview is shown, and the exit code says that nothing was done."""
    ended = run()

    assert 2 == ended.code
    assert "Commands:" in ended.err
    assert "error:" not in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run: Run, shell: str) -> None:
    """The script names the program and the variable that turns completion on."""
    ended = run("completion", shell)

    assert 0 == ended.code
    assert "_TWOLANE_COMPLETE" in ended.out


def test_completion_needs_no_daemon(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Completing a command loads no gRPC, so it opens no socket."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "twolane"],
        env={
            "_TWOLANE_COMPLETE": "bash_complete",
            "COMP_WORDS": "twolane sea",
            "COMP_CWORD": "1",
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert "plain,search" == done.stdout.strip()
    assert "grpc" not in done.stderr
