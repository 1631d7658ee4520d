"""A small invented project with a history, a task, and the source that must lead the pack."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.context.archive import Archive
from tests.context.repository import Repository, git
from twolaned.context.git_state import GitStates
from twolaned.context.pack import ContextPack


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A conversation; the person speaks first. *here* says whether it was held in the project."""

    name: str
    turns: tuple[str, ...]
    days_ago: float = 5
    here: bool = True


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """*commits* are the files of each commit in order; *ages* say how many days old a file is.

    *uncommitted* files lie in the folder and git does not know them. *others* are files of other
    projects. *lead* is the path or the chat that the first item must quote, *says* a piece of that
    quotation. *reworded* is the task with half of its content words replaced by synonyms.
    """

    name: str
    intent: str
    task: str
    lead: str
    commits: tuple[dict[str, str], ...]
    reworded: str = ""
    says: str = ""
    uncommitted: dict[str, str] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()
    chats: tuple[Chat, ...] = ()
    others: dict[str, str] = field(default_factory=dict)
    ages: dict[str, float] = field(default_factory=dict)


def build(scenario: Scenario, folder: Path) -> Archive:
    """The archive of *scenario*, with its project in *folder*."""
    project = Repository(folder / scenario.name)
    for files in scenario.commits:
        project.commit(files)
    archive = Archive(GitStates.of_machine())
    kept = {path: text for files in scenario.commits for path, text in files.items()}
    for path, text in scenario.uncommitted.items():
        project.write(path, text)
    for path in scenario.deleted:
        git(project.folder, "rm", "-q", path)
    for path, text in (kept | scenario.uncommitted).items():
        archive.document(
            str(project.folder),
            path,
            text,
            project=scenario.name,
            days_ago=scenario.ages.get(path, 3),
        )
    for path, text in scenario.others.items():
        place = folder / "elsewhere" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        archive.document(str(folder / "elsewhere"), path, text, project=path.split("/")[0])
    for chat in scenario.chats:
        archive.chat(
            chat.name,
            *chat.turns,
            cwd=str(project.folder) if chat.here else None,
            days_ago=chat.days_ago,
        )
    return archive


def lead_of(pack: ContextPack) -> tuple[str, str]:
    """The path or the chat that the first item quotes, and the quotation; empty without items."""
    if not pack.items:
        return "", ""
    first = pack.items[0]
    return first.path or first.evidence_key.rpartition(":")[2], first.quote
