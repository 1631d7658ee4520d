"""Reading the configuration file, and saying what is wrong with it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec

from twolaned.config.settings import Settings
from twolaned.model.errors import ConfigError

_PLACE = re.compile(r"^(?P<what>.*) - at `\$(?P<place>.*)`$", re.DOTALL)
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<key>.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<key>.*)`$", re.DOTALL)


def load_settings(path: Path, *, must_exist: bool = False) -> Settings:
    """Read the settings in *path*; without such a file, return the defaults.

    Raises ConfigError, with *must_exist* also where there is no file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as e:
        if must_exist:
            raise _error(path, "", "there is no such file") from e
        return Settings()
    except OSError as e:
        raise _error(path, "", f"it cannot be read ({e.strerror})") from e
    except UnicodeDecodeError as e:
        raise _error(path, "", f"byte {e.start} is not UTF-8") from e
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise _error(path, "", f"it is not TOML: {e}") from e
    return settings_of(table, path)


def settings_of(table: dict[str, Any], path: Path) -> Settings:
    """Check *table*, read from *path*. Raises ConfigError that names the key."""
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as e:
        raise _explained(path, str(e)) from e


def settings_json(settings: Settings) -> str:
    """All of *settings* as JSON, defaults included, under the keys of the file."""
    return msgspec.json.encode(settings).decode()


def _explained(path: Path, message: str) -> ConfigError:
    """msgspec's *message* with the key spelt as a person would write it."""
    found = _PLACE.match(message)
    what, place = (found["what"], found["place"]) if found else (message, "")
    place = place.removeprefix(".")
    if unknown := _UNKNOWN.match(what):
        key = unknown["key"]
        return _error(path, _joined(place, key), f"there is no such key{_hint(place, key)}")
    if missing := _MISSING.match(what):
        return _error(path, _joined(place, missing["key"]), "it is required")
    what = what[:1].lower() + what[1:]
    if what.startswith("invalid enum value"):
        return _error(path, place, f"{what}; possible are {_listed(_choices(_type_at(place)))}")
    return _error(path, place, what)


def _hint(place: str, key: str) -> str:
    """The key that was meant, where one is close, or those that there are."""
    known = list(getattr(_type_at(place), "__struct_fields__", ()))
    close = difflib.get_close_matches(key, known, n=1)
    if close:
        return f"; did you mean `{close[0]}`?"
    return f"; known are {_listed(known)}" if known else ", and none is known here"


def _type_at(place: str) -> Any:
    """The type of the value at *place*, such as ``sources[0].scope``."""
    kind: Any = Settings
    for part in filter(None, re.sub(r"\[.*?\]", "", place).split(".")):
        kind = {f.encode_name: f.type for f in msgspec.structs.fields(kind)}[part]
        if get_origin(kind) is tuple:
            kind = get_args(kind)[0]
    return kind


def _choices(kind: Any) -> list[str]:
    return [str(value) for value in get_args(kind) or kind]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _error(path: Path, key: str, why: str) -> ConfigError:
    where = f"`{key}` in {path}" if key else str(path)
    end = "" if why.endswith(("?", ".")) else "."
    return ConfigError(
        f"The configuration cannot be used: {where}: {why}{end} Correct the file and start again.",
        file=str(path),
        key=key,
    )
