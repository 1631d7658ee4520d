from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.context.repository import Repository, git
from twolaned.context.git_state import ASKED_AGAIN, FileState, GitStates

pytestmark = pytest.mark.needs("git")


def state(path: Path, states: GitStates | None = None) -> FileState:
    return (states or GitStates.of_machine()).reader().state(str(path))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project")
    made.commit({"kept.md": "a", "sub dir/ü.md": "b", "gone.md": "c", ".gitignore": "*.log\n"})
    return made


def test_git_tells_tracked_from_untracked(repository: Repository) -> None:
    """Also with spaces and other letters in names; what is ignored is not tracked either."""
    repository.write("new.md", "x")
    repository.write("a.log", "x")
    (repository.folder / "gone.md").unlink()

    found = {
        name: state(repository.folder / name)
        for name in ("kept.md", "sub dir/ü.md", "new.md", "a.log", "gone.md", "never.md")
    }

    assert found == {
        "kept.md": FileState.TRACKED,
        "sub dir/ü.md": FileState.TRACKED,
        "new.md": FileState.UNTRACKED,
        "a.log": FileState.UNTRACKED,
        "gone.md": FileState.DELETED,
        "never.md": FileState.DELETED,
    }


def test_a_new_commit_is_seen(repository: Repository) -> None:
    """What was remembered of a repository holds only while its index does."""
    states = GitStates.of_machine()
    repository.write("new.md", "x")
    assert state(repository.folder / "new.md", states) is FileState.UNTRACKED

    repository.commit({})

    assert state(repository.folder / "new.md", states) is FileState.TRACKED


def test_a_repository_is_asked_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its index stays as it is, git is not started again."""
    states = GitStates.of_machine()
    assert state(repository.folder / "kept.md", states) is FileState.TRACKED
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("git was started"))

    assert state(repository.folder / "kept.md", states) is FileState.TRACKED


def test_a_worktree_counts_as_its_repository(repository: Repository, tmp_path: Path) -> None:
    """A linked worktree has files of its own, tracked by the same repository."""
    tree = tmp_path / "tree"
    git(repository.folder, "worktree", "add", "-q", str(tree))
    (tree / "new.md").write_text("x", encoding="utf-8")

    assert state(tree / "kept.md") is FileState.TRACKED
    assert state(tree / "new.md") is FileState.UNTRACKED


def test_a_submodule_counts_as_its_repository(repository: Repository, tmp_path: Path) -> None:
    """A file of a submodule is tracked by it, though the outer repository does not list it."""
    outer = Repository(tmp_path / "outer")
    git(outer.folder, "submodule", "--quiet", "add", str(repository.folder), "inner")
    outer.commit({})
    (outer.folder / "inner" / "new.md").write_text("x", encoding="utf-8")

    assert state(outer.folder / "inner" / "kept.md") is FileState.TRACKED
    assert state(outer.folder / "inner" / "new.md") is FileState.UNTRACKED


def test_a_folder_without_repository_says_so(tmp_path: Path) -> None:
    """Nothing is made up about files outside repositories."""
    (tmp_path / "a.md").write_text("x", encoding="utf-8")

    assert state(tmp_path / "a.md") is FileState.NO_REPOSITORY
    assert state(tmp_path / "b.md") is FileState.DELETED


def test_a_repository_without_commits_tracks_nothing(tmp_path: Path) -> None:
    """An index that is not there yet is no failure."""
    made = Repository(tmp_path / "empty")
    made.write("a.md", "x")

    assert state(made.folder / "a.md") is FileState.UNTRACKED


@pytest.mark.parametrize("program", [None, "/nonexistent/git", sys.executable])
def test_without_a_working_git_nothing_is_claimed(
    repository: Repository, program: str | None
) -> None:
    """No git, one that cannot be started, one that fails: the state is not known."""
    repository.write("new.md", "x")
    states = GitStates(program)

    assert state(repository.folder / "kept.md", states) is FileState.GIT_UNAVAILABLE
    assert state(repository.folder / "new.md", states) is FileState.GIT_UNAVAILABLE
    assert state(repository.folder / "none.md", states) is FileState.DELETED


def test_a_git_that_hangs_is_given_up(repository: Repository, tmp_path: Path) -> None:
    """A pack does not wait for git without end."""
    slow = tmp_path / "slow-git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)

    found = state(repository.folder / "kept.md", GitStates(str(slow), timeout=0.2))

    assert found is FileState.GIT_UNAVAILABLE


def test_a_failure_of_git_passes(repository: Repository, tmp_path: Path) -> None:
    """What failed once is not tried for every file, and is tried again a minute later."""
    well, asked = tmp_path / "well", tmp_path / "asked"
    program = tmp_path / "git"
    program.write_text(
        f"#!/bin/sh\necho >> '{asked}'\n[ -e '{well}' ] || exit 128\nexec git \"$@\"\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    now = [0.0]
    states = GitStates(str(program), clock=lambda: now[0])
    kept = repository.folder / "kept.md"

    assert state(kept, states) is FileState.GIT_UNAVAILABLE
    well.touch()
    assert state(kept, states) is FileState.GIT_UNAVAILABLE
    now[0] += ASKED_AGAIN
    assert state(kept, states) is FileState.TRACKED
    now[0] += ASKED_AGAIN
    assert state(kept, states) is FileState.TRACKED
    assert 2 == len(asked.read_text(encoding="utf-8").splitlines())


def test_a_repository_cannot_run_programs(repository: Repository, tmp_path: Path) -> None:
    """A configured file system monitor is a program; asking about files must not start it."""
    mark = tmp_path / "started"
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch '{mark}'\n", encoding="utf-8")
    hook.chmod(0o755)
    git(repository.folder, "config", "core.fsmonitor", str(hook))
    mark.unlink(missing_ok=True)

    found = state(repository.folder / "kept.md")

    assert found is FileState.TRACKED
    assert not mark.exists()


def test_the_callers_environment_does_not_mislead_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that was started from a hook has another repository in its environment."""
    other = Repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))

    assert state(repository.folder / "kept.md") is FileState.TRACKED
    assert shutil.which("git")
