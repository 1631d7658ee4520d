"""The command line of `twolaned`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from twolane import paths
from twolaned.server.process import version


@dataclass(frozen=True, slots=True)
class Options:
    """Where the daemon finds and puts things. All paths are absolute."""

    data: Path
    config: Path
    config_given: bool
    """Whether the person named the file, which then must exist."""
    socket: Path
    log_level: str
    log_file: Path | None
    print_config: bool = False
    """Whether to say what the configuration comes to, and nothing else."""
    restore: Path | None = None
    """The backup to make the data folder from, and nothing else."""


def parse(arguments: Sequence[str] | None, env: Mapping[str, str]) -> Options:
    """Read *arguments* (None: those of the process) over *env*. Exits on a wrong option."""
    parser = argparse.ArgumentParser(
        prog="twolaned",
        description="The twolane daemon: one warm index of your work with AI, over gRPC.",
        epilog="Options win over TWOLANE_DATA, TWOLANE_CONFIG and TWOLANE_SOCKET.",
    )
    parser.add_argument("--data", metavar="FOLDER", help="the data folder")
    parser.add_argument("--config", metavar="FILE", help="the configuration, TOML")
    parser.add_argument("--socket", metavar="PATH", help="the Unix socket to listen on")
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="info",
        help="debug has a line for every call",
    )
    parser.add_argument("--log-file", metavar="FILE", type=Path, help="log to a file as well")
    parser.add_argument(
        "--print-config",
        action="store_true",
        help="print the settings in force as JSON and exit; 78 if the configuration is wrong",
    )
    parser.add_argument(
        "--restore",
        metavar="BACKUP",
        type=Path,
        help="make the data folder, which must be empty, from a backup and exit",
    )
    parser.add_argument("--version", action="version", version=f"twolaned {version()}")
    given = parser.parse_args(arguments)
    env = dict(env)
    for name in ("data", "config", "socket"):
        value = getattr(given, name)
        if value is not None:
            env[f"TWOLANE_{name.upper()}"] = os.path.abspath(value)  # noqa: PTH100  keeps no ".."
    return Options(
        data=paths.data_dir(env),
        config=paths.config_path(env),
        config_given=given.config is not None,
        socket=paths.socket_path(env),
        log_level=given.log_level,
        log_file=None if given.log_file is None else given.log_file.absolute(),
        print_config=given.print_config,
        restore=None if given.restore is None else given.restore.absolute(),
    )
