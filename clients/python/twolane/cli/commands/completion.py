"""``twolane completion``."""

from __future__ import annotations

import click

from twolane.cli import terminal
from twolane.cli.exits import ExitCode


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> int:
    """Print the script that completes commands in your shell.

    \b
    Put this where your shell reads it:
      bash  eval "$(twolane completion bash)"          in ~/.bashrc
      zsh   eval "$(twolane completion zsh)"           in ~/.zshrc
      fish  twolane completion fish > ~/.config/fish/completions/twolane.fish
    """
    from click.shell_completion import get_completion_class

    from twolane.cli.app import COMPLETION

    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    assert kind is not None, f"click completes {shell}"
    terminal.out(kind(root, {}, "twolane", COMPLETION).source())
    return ExitCode.OK
