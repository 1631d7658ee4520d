"""The root command, and the one place where every way to end becomes a message and a code."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence

import click

from twolane.cli import terminal, text
from twolane.cli.exits import ExitCode, exit_code
from twolane.cli.options import Settings, common
from twolane.errors import DaemonUnavailable, StartFailed, TwolaneError

PROGRAM = "twolane"

COMPLETION = "_TWOLANE_COMPLETE"
"""The environment variable that a shell asks for completions with."""

COMMANDS = {
    "up": ("up", "Set up twolane on this machine: start it, import, try it."),
    "search": ("search", "Find conversations and documents."),
    "pack": ("pack", "Collect what an agent needs to know for a task."),
    "open": ("open", "Read a conversation or document in full."),
    "import": ("imports", "Bring in exports and session folders."),
    "save": ("save", "Keep a conversation or a note."),
    "delete": ("delete", "Take rows out of the index for good."),
    "export": ("export", "Write the archive as lines of JSON, for backup and moving."),
    "backup": ("backup", "Copy the whole archive to a folder, while it is in use."),
    "restore": ("restore", "Make a data folder from a backup."),
    "source": ("source", "Manage the folders of documents that are kept in the index."),
    "compact": ("compact", "Move old conversations to the archive."),
    "suggest": ("suggest", "Complete a query, for editors and scripts."),
    "feedback": ("feedback", "Keep a log of which evidence helped."),
    "mcp": ("mcp", "Serve agents over the Model Context Protocol."),
    "status": ("status", "Show what is in the index and how the daemon is."),
    "doctor": ("doctor", "Check the installation and say what to repair."),
    "daemon": ("daemon", "Start, stop and look at the daemon."),
    "service": ("service", "Let the system start the daemon, and compact now and then."),
    "config": ("config", "Show the configuration and check it."),
    "completion": ("completion", "Print the script that completes commands in your shell."),
}
"""The commands in the order of help: the module below `twolane.cli.commands`, one sentence."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command, or None if there is none by that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"twolane.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands with their sentences, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        terminal.out(f"{PROGRAM} {version(PROGRAM)}")
        context.exit()


@click.group(
    PROGRAM,
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="New here? Run `twolane up`. Something wrong? Run `twolane doctor`.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@common
def root() -> None:
    """Search your own work with AI: chats, agent sessions and documents, on this machine.

    Commands talk to a daemon that keeps the index warm, and start it if none runs.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. Never raises what a person can cause."""
    # gRPC would write about connections that end to standard error.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    _speak_utf8()
    given = list(sys.argv[1:] if arguments is None else arguments)
    settings = Settings()
    try:
        if COMPLETION in os.environ:
            root.main(given, PROGRAM, complete_var=COMPLETION)
        # Not `root.main`: it would end the process with 1 when a pipe closes.
        with root.make_context(PROGRAM, given, obj=settings) as context:
            code = root.invoke(context)
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet()
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        terminal.note()
        return _fail(_json(settings, given), "CANCELLED", "INTERRUPTED", "Stopped.", (), 130)
    except click.exceptions.NoArgsIsHelpError as error:
        terminal.note(error.format_message())
        return ExitCode.USAGE
    except click.ClickException as error:
        return _usage(error, _json(settings, given))
    except TwolaneError as error:
        hints = hints_for(error)
        return _fail(
            _json(settings, given), error.code, error.reason, error.message, hints, exit_code(error)
        )
    except UnicodeEncodeError:
        sentence = "An argument holds bytes that are not UTF-8 text."
        code = ExitCode.USAGE
        return _fail(_json(settings, given), "INVALID_ARGUMENT", "USAGE", sentence, (), code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sentence = f"{where}{error.strerror or error}."
        return _fail(_json(settings, given), "UNKNOWN", "OS_ERROR", sentence, (), ExitCode.NOTHING)
    return int(code) if isinstance(code, int) else ExitCode.OK


def _speak_utf8() -> None:
    """Write UTF-8 whatever the locale; what cannot be written must not end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def hints_for(error: TwolaneError) -> list[str]:
    """Return the lines that help with *error* below its message."""
    hints = [
        f"{v.field}: {v.description}" for v in error.violations if v.description != error.message
    ]
    if isinstance(error, StartFailed):
        hints += [f"  {line}" for line in error.log]
        hints.append("`twolane doctor` checks what may be wrong.")
    elif isinstance(error, DaemonUnavailable) and error.reason != "PROTOCOL_MISMATCH":
        hints.append("Start it with `twolane daemon start`; `twolane doctor` says what is wrong.")
    if error.retry_after is not None:
        hints.append(f"Try again in {error.retry_after:.0f} s.")
    if error.code in ("INTERNAL", "UNKNOWN", "DATA_LOSS") and error.request_id:
        hints.append(f"In the daemon's log it is request {error.request_id}.")
    return hints


def _json(settings: Settings, given: list[str]) -> bool:
    # A command line that cannot be read may not have come as far as its options.
    return settings.json or "--json" in given


def _usage(error: click.ClickException, json: bool) -> int:
    hints = []
    if isinstance(error, click.NoSuchOption) and error.ctx and error.ctx.info_name == "search":
        hints.append("To leave a word out, put the query behind --: twolane search -- WORD -NOT")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hints.append(f"See `{error.ctx.command_path} --help`.")
    message = error.format_message()
    code = ExitCode.NOTHING if isinstance(error, click.FileError) else ExitCode.USAGE
    return _fail(json, "INVALID_ARGUMENT", "USAGE", message, hints, code)


def _fail(
    json: bool, code: str, reason: str, message: str, hints: Sequence[str], exit_with: int
) -> int:
    if json:
        from json import dumps

        error = {"code": code, "reason": reason, "message": message}
        terminal.note(dumps({"error": error}, ensure_ascii=False, separators=(",", ":")))
    else:
        terminal.note(f"{terminal.red('error:')} {text.block(message)}")
        for hint in hints:
            terminal.note(text.block(hint))
    return int(exit_with)


def _quiet() -> int:
    """End without a word when the reader of standard output has gone."""
    # Python would try to flush once more while it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK
