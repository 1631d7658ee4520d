"""The command line. Data goes to standard output, everything else to standard error.

gRPC, protobuf and rich are imported inside the commands that need them, so that ``--help``,
``--version`` and completion stay quick.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on *arguments*, by default the process's; return the exit code."""
    from twolane.cli.app import run

    return run(arguments)
