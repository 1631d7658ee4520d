"""What a repository says about its files without git having to run."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from twolaned.ingest.patterns import Patterns
from twolaned.ingest.plain_files import rule_lines

_ATTRIBUTES = ".gitattributes"
_GENERATED = "linguist-generated"


def repository_above(folder: Path) -> Path | None:
    """The main folder of the repository or worktree that *folder* lies in; None outside any."""
    return next((f for f in (folder, *folder.parents) if os.path.lexists(f / ".git")), None)


def is_repository(folder: Path) -> bool:
    """Whether *folder* is the top of a repository, a worktree or a submodule."""
    mark = folder / ".git"
    return mark.is_file() or (mark / "HEAD").exists()


def shared_folder(top: Path) -> Path:
    """Where the repository of *top* keeps what all its worktrees share."""
    mark = top / ".git"
    if not mark.is_file():
        return mark
    try:
        text = mark.read_text("utf-8", "surrogateescape")
        own = top / text.removeprefix("gitdir:").strip()
        common = own / "commondir"
        if common.is_file():
            own = own / common.read_text("utf-8", "surrogateescape").strip()
    except OSError:  # it leads nowhere
        return mark
    return Path(os.path.normpath(own))


def project_name(folder: Path) -> str:
    """The name of the project that *folder* belongs to.

    That of its repository's main folder, also where it lies in a linked worktree; outside a
    repository its own.
    """
    top = repository_above(folder)
    if top is None:
        return folder.name
    shared = shared_folder(top)
    main = shared.parent if shared.name == ".git" else top
    return main.name or folder.name


@dataclass(frozen=True, slots=True)
class _Rule:
    below: str
    """The path from the source to the folder that the rule is from, where it lies in the source."""
    put_before: str
    """The path from that folder to the source, where it lies above."""
    pattern: Patterns
    says: bool | None


@dataclass(frozen=True, slots=True)
class Attributes:
    """Which files the repository's attributes say were generated; the last rule decides."""

    rules: tuple[_Rule, ...] = ()

    @classmethod
    def of_parents(cls, root: Path) -> Attributes:
        """The rules of the folders above *root* in its repository."""
        top = repository_above(root)
        if top is None:
            return cls()
        rules: list[_Rule] = []
        parts = root.relative_to(top).parts
        for depth in range(len(parts)):
            folder = top.joinpath(*parts[:depth])
            rules += _read(folder / _ATTRIBUTES, "", "/".join(parts[depth:]) + "/")
        return cls(tuple(rules))

    def with_folder(self, folder: Path, below: str, names: Collection[str]) -> Attributes:
        """These rules and those of *folder*, which holds *names* and is *below* the source."""
        if _ATTRIBUTES not in names:
            return self
        return Attributes((*self.rules, *_read(folder / _ATTRIBUTES, below, "")))

    def generated(self, path: str) -> bool | None:
        """What the rules say of *path* below the source; None where they say nothing."""
        for rule in reversed(self.rules):
            if rule.pattern.verdict(rule.put_before + path[len(rule.below) :]):
                return rule.says
        return None


def _read(file: Path, below: str, put_before: str) -> list[_Rule]:
    rules = []
    for line in rule_lines(file):
        pattern, attributes = _split(line)
        if not pattern or pattern.startswith(("#", "!", "[attr]")):
            continue
        said = [a for a in attributes if a.partition("=")[0].lstrip("-!") == _GENERATED]
        if said:
            rules.append(_Rule(below, put_before, Patterns.of([pattern]), _value(said[-1])))
    return rules


def _split(line: str) -> tuple[str, list[str]]:
    """The pattern of a line, which may stand in quotation marks, and its attributes."""
    line = line.strip(" \t")
    if line.startswith('"') and '"' in line[1:]:
        pattern, _, rest = line[1:].partition('"')
        return pattern, rest.split()
    pattern, *attributes = line.split() or [""]
    return pattern, attributes


def _value(attribute: str) -> bool | None:
    if attribute.startswith("!"):
        return None
    return not attribute.startswith("-") and attribute.partition("=")[2].lower() != "false"
