"""What a repository says about its files without git having to run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

_ATTRIBUTES = ".gitattributes"
_MAX_BYTES = 1 << 20


def project_name(folder: Path) -> str:
    """The name of the project that *folder* belongs to.

    That of its repository's main folder, also where it lies in a linked worktree; outside a
    repository its own.
    """
    for place in (folder, *folder.parents):
        mark = place / ".git"
        if mark.is_dir():
            return place.name or folder.name
        if mark.is_file():
            return _main_folder(mark, place).name or folder.name
    return folder.name


def _main_folder(mark: Path, place: Path) -> Path:
    """The main folder of the worktree whose ``.git`` file *mark* is; a submodule's is its own."""
    try:
        own = place / mark.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
        common = (own / "commondir").read_text("utf-8", "surrogateescape").strip()
    except OSError:  # a submodule, or nothing that can be followed
        return place
    shared = (own / common).resolve()
    return shared.parent if shared.name == ".git" else place


@dataclass(frozen=True, slots=True)
class Attributes:
    """Which files the repository's attributes say were generated.

    A rule judges paths from its folder on: *start* is how many characters of a path from the
    source it skips, or, below 0, minus the length of what it puts before. The last rule that says
    anything decides.
    """

    rules: tuple[tuple[str, str, GitIgnoreSpec, bool], ...] = ()

    @classmethod
    def of_parents(cls, root: Path) -> Attributes:
        """The rules of the folders above *root* in its repository."""
        top = next((f for f in (root, *root.parents) if (f / ".git").exists()), None)
        if top is None or top == root:
            return cls()
        rules = cls()
        parts = root.relative_to(top).parts
        for depth in range(len(parts)):
            folder = top.joinpath(*parts[:depth])
            put_before = "/".join(parts[depth:]) + "/"
            rules = cls((*rules.rules, *_read(folder / _ATTRIBUTES, "", put_before)))
        return rules

    def with_folder(self, folder: Path, below: str, names: Collection[str]) -> Attributes:
        """These rules and those of *folder*, which holds *names* and is *below* the source."""
        if _ATTRIBUTES not in names:
            return self
        return Attributes((*self.rules, *_read(folder / _ATTRIBUTES, below, "")))

    def generated(self, path: str) -> bool | None:
        """What the rules say of *path* below the source; None where they say nothing."""
        for below, put_before, spec, value in reversed(self.rules):
            if spec.match_file(put_before + path[len(below) :]):
                return value
        return None


def _read(file: Path, below: str, put_before: str) -> list[tuple[str, str, GitIgnoreSpec, bool]]:
    try:
        with file.open("rb") as stream:
            lines = stream.read(_MAX_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:  # no such file, or none that says anything
        return []
    rules = []
    for line in lines:
        pattern, *attributes = line.split() or [""]
        if not pattern or pattern.startswith(("#", "[")):
            continue
        for attribute in attributes:
            name, _, value = attribute.partition("=")
            if name.lstrip("-!") == "linguist-generated":
                says = not name.startswith(("-", "!")) and value.lower() != "false"
                rules.append((below, put_before, GitIgnoreSpec.from_lines([pattern]), says))
    return rules
