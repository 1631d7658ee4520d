from __future__ import annotations

from pathlib import Path

from twolaned.model.source import Source, SourceScope
from twolaned.search.projects import Project, is_at_or_below, project_of, widened


def repository(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


def worktree(main: Path, path: Path) -> Path:
    """A linked worktree of *main*, laid out as git does it."""
    own = main / ".git" / "worktrees" / path.name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{path}/.git\n")
    path.mkdir(parents=True)
    (path / ".git").write_text(f"gitdir: {own}\n")
    return path


def source(path: Path, scope: SourceScope = SourceScope.DOCUMENT) -> Source:
    return Source(id=path.name, path=str(path), scope=scope)


def test_the_nearest_repository_is_the_project(tmp_path: Path) -> None:
    """From any depth; a repository inside another is its own project."""
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner")
    (inner / "src").mkdir()

    assert project_of(str(inner / "src")).holds(f"{inner}/README.md")
    assert not project_of(str(inner / "src")).holds(f"{outer}/README.md")
    assert project_of(str(outer / "vendor")).holds(f"{outer}/README.md")
    assert project_of(str(inner)).names == {"inner"}


def test_all_worktrees_are_one_project(tmp_path: Path) -> None:
    """Told from the main folder and from either worktree."""
    main = repository(tmp_path / "main")
    fix, feature = (worktree(main, tmp_path / "trees" / name) for name in ("fix", "feature"))
    roots = {str(main), str(fix), str(feature)}

    assert {frozenset(roots)} == {project_of(str(p)).roots for p in (main, fix, feature)}


def test_a_submodule_is_its_own_project(tmp_path: Path) -> None:
    """Its git folder lies inside the outer one's, and is no worktree of it."""
    outer = repository(tmp_path / "outer")
    (outer / ".git" / "modules" / "sub").mkdir(parents=True)
    (outer / "sub").mkdir()
    (outer / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")

    assert {str(outer / "sub")} == project_of(str(outer / "sub")).roots


def test_outside_a_repository_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    """Also one that does not exist, or whose `.git` says nothing."""
    gone = tmp_path / "gone"
    assert Project(frozenset({str(gone)}), frozenset({"gone"}), False) == project_of(str(gone))
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / ".git").write_bytes(b"\xff\x00")
    assert {str(odd)} == project_of(f"{odd}/../odd").roots


def test_a_link_to_a_project_is_the_project(tmp_path: Path) -> None:
    """Rows may name the folder either way."""
    main = repository(tmp_path / "main")
    (tmp_path / "link").symlink_to(main)

    assert {str(main), str(tmp_path / "link")} == project_of(str(tmp_path / "link")).roots


def test_a_project_source_is_one_project(tmp_path: Path) -> None:
    """The person said so, whatever repositories it holds."""
    frontend = repository(tmp_path / "shop" / "frontend")
    backend = repository(tmp_path / "shop" / "backend")
    project = project_of(str(frontend))
    shop = source(tmp_path / "shop", SourceScope.PROJECT)

    assert widened(project, [shop]).holds(str(backend))
    assert not widened(project, [source(tmp_path / "shop")]).holds(str(backend))


def test_a_plain_folder_belongs_to_the_innermost_source_around_it(tmp_path: Path) -> None:
    """Notes without a repository are narrowed to the notes, not to one folder of them."""
    project = project_of(str(tmp_path / "notes" / "2026"))
    sources = [source(tmp_path), source(tmp_path / "notes")]

    assert widened(project, sources).holds(str(tmp_path / "notes" / "2025"))
    assert not widened(project, sources).holds(str(tmp_path / "other"))
    assert project == widened(project, [source(tmp_path / "other")])


def test_below_is_by_names() -> None:
    """A folder's name that begins another's is not around it."""
    assert is_at_or_below("/a/b", "/a")
    assert is_at_or_below("/a", "/a")
    assert is_at_or_below("/a", "/")
    assert not is_at_or_below("/ab", "/a")
