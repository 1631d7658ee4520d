"""Which project a folder lies in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from twolaned.model.source import Source, SourceScope


@dataclass(frozen=True, slots=True)
class Project:
    """The folders that are one project: a git repository and all its worktrees, or one folder."""

    roots: frozenset[str]
    names: frozenset[str]
    """The last names of *roots*, for documents that name a project and have no place on disk."""
    is_repository: bool

    def holds(self, path: str) -> bool:
        """Whether the absolute *path* is one of the project's folders or lies below one."""
        return any(is_at_or_below(path, root) for root in self.roots)


def is_at_or_below(path: str, folder: str) -> bool:
    """Whether the absolute *path* is *folder* or lies below it."""
    return path == folder or path.startswith(folder if folder == "/" else f"{folder}/")


def project_of(cwd: str) -> Project:
    """The project of the absolute path *cwd*.

    The nearest folder upwards with a ``.git`` counts, together with the other worktrees of the same
    repository; where there is none, the folder itself.
    """
    given = Path(os.path.normpath(cwd))
    roots: set[Path] = set()
    for start in {given, Path(os.path.realpath(given))}:
        top = next((f for f in (start, *start.parents) if os.path.lexists(f / ".git")), None)
        if top is not None:
            roots |= {top, *_worktrees(top)}
    found = roots or {given, Path(os.path.realpath(given))}
    return Project(
        frozenset(str(root) for root in found),
        frozenset(root.name for root in found if root.name),
        is_repository=bool(roots),
    )


def widened(project: Project, sources: Iterable[Source]) -> Project:
    """*project* as the person's sources draw it.

    A source of the scope ``project`` is one project, whatever repositories it holds. A folder
    outside any repository belongs to the innermost source around it.
    """
    around = [s for s in sources if any(is_at_or_below(r, s.path) for r in project.roots)]
    roots = {s.path for s in around if s.scope is SourceScope.PROJECT}
    if not project.is_repository and around:
        roots.add(max((s.path for s in around), key=len))
    if not roots:
        return project
    return Project(project.roots | roots, project.names, project.is_repository)


def _worktrees(top: Path) -> set[Path]:
    """The main folder and the linked worktrees of the repository whose folder *top* is."""
    try:
        common = _common_folder(top / ".git")
        found = {common.parent} if common.name == ".git" else set()
        for entry in (common / "worktrees").glob("*/gitdir"):
            link = entry.read_text(encoding="utf-8", errors="surrogateescape").strip()
            found.add(Path(os.path.normpath(entry.parent / link)).parent)
    except OSError:  # what git's folders do not tell is not known
        return set()
    return found


def _common_folder(dot_git: Path) -> Path:
    """The folder that all worktrees of a repository share."""
    if dot_git.is_dir():
        return dot_git
    text = dot_git.read_text(encoding="utf-8", errors="surrogateescape")
    own = dot_git.parent / text.removeprefix("gitdir:").strip()
    link = own / "commondir"
    if link.exists():
        own = own / link.read_text(encoding="utf-8", errors="surrogateescape").strip()
    return Path(os.path.normpath(own))
