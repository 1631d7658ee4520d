"""The Voyage key: where it comes from, and that it goes nowhere else."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from twolaned.model.errors import ConfigError

VARIABLE = "VOYAGE_API_KEY"
_LONGEST = 4_096


class ApiKey:
    """A key that no representation, copy or pickle shows. ``reveal`` is for the client alone."""

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        self._key = key

    def reveal(self) -> str:
        """The key itself, for a client library's constructor."""
        return self._key

    def __repr__(self) -> str:
        return "ApiKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not written anywhere")


def load_key(env: Mapping[str, str], file: Path) -> ApiKey | None:
    """The key from ``VOYAGE_API_KEY`` of *env*, else from *file*, else None.

    Raises ConfigError for a file that others may read, for one that cannot be read, and for a
    key that cannot stand in a header.
    """
    given = env.get(VARIABLE, "").strip()
    if given:
        return _checked(given, VARIABLE)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise _refused(file, f"it cannot be read ({e.strerror})") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(file, "it is not a file")
        if status.st_uid not in (os.geteuid(), 0):
            raise _refused(file, "it belongs to somebody else")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise _refused(file, f"others may read it; run `chmod 600 {file}`")
        content = os.read(descriptor, _LONGEST + 1)
    finally:
        os.close(descriptor)
    try:
        key = content.decode("ascii").strip()
    except UnicodeDecodeError:
        raise _refused(file, "it does not hold a key") from None
    if not key:
        raise _refused(file, "it is empty")
    return _checked(key, str(file))


def _checked(key: str, where: str) -> ApiKey:
    if len(key) > _LONGEST or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"What stands in {where} is not a Voyage key. Put the key alone there.", where=where
        )
    return ApiKey(key)


def _refused(file: Path, why: str) -> ConfigError:
    return ConfigError(f"The Voyage key in {file} is not used: {why}.", file=str(file))
