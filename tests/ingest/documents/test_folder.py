from __future__ import annotations

import os
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from twolaned.ingest import folder as folder_module
from twolaned.ingest.folder import FileState, FoundDocument, Unchanged, scan_folder
from twolaned.ingest.limits import IngestLimits
from twolaned.model.document import Document
from twolaned.model.errors import NotFound
from twolaned.model.report import Skip

LONG_AGO = 1_700_000_000


class Scan:
    """All that one scan gave."""

    def __init__(
        self,
        root: Path,
        known: dict[str, FileState] | None = None,
        exclude: Iterable[str] = (),
        limits: IngestLimits | None = None,
    ) -> None:
        self.documents: dict[str, Document] = {}
        self.states: dict[str, FileState] = {}
        self.unchanged: list[str] = []
        self.skips: dict[str, set[str]] = {}
        for item in scan_folder(
            root, exclude=tuple(exclude), limits=limits or IngestLimits(), known=known or {}
        ):
            match item:
                case FoundDocument():
                    self.documents[item.document.path] = item.document
                    self.states[item.document.path] = item.state
                case Unchanged():
                    self.unchanged += item.paths
                case Skip():
                    self.skips.setdefault(item.reason, set()).add(item.where)


def write(root: Path, files: dict[str, str | bytes], *, aged: bool = True) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if aged:
            os.utime(path, (LONG_AGO, LONG_AGO))


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_what_is_text_comes_in_and_the_rest_has_a_reason(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.md": "# Anchor\n\nHold fast.",
            "src/queue.py": "def run(): ...\n",
            "photo.png": b"\x89PNG\r\n\x1a\n",
            "blob": b"\0\1\2\3",
            "empty.txt": " \n",
            ".env": "TOKEN=1",
            ".env.example": "TOKEN=",
            "id_rsa": "-----BEGIN",
            "package-lock.json": "{}",
            "large.txt": "x" * 3_000,
            "node_modules/m/index.js": "x",
            ".git/config": "[core]",
        },
    )
    scan = Scan(tmp_path, limits=IngestLimits(max_document_bytes=2_000))
    assert set(scan.documents) == {"a.md", "src/queue.py", ".env.example"}
    assert scan.documents["a.md"].title == "Anchor"
    assert scan.documents["a.md"].modified_at == LONG_AGO * 1_000
    assert scan.documents["src/queue.py"].syntax == "code"
    assert scan.skips == {
        "binary": {"photo.png", "blob"},
        "empty_file": {"empty.txt"},
        "secret_file": {".env", "id_rsa"},
        "machine_file": {"package-lock.json"},
        "too_large": {"large.txt"},
        "tool_folder": {"node_modules", ".git"},
    }


def test_what_did_not_change_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {f"n{i}.txt": f"note {i}" for i in range(50)})
    first = Scan(tmp_path)
    opened: list[str] = []
    true_open = os.open

    def counting(path: str, *arguments: int) -> int:
        opened.append(str(path))
        return true_open(path, *arguments)

    write(tmp_path, {"n7.txt": "another note 7"}, aged=False)
    monkeypatch.setattr(folder_module.os, "open", counting)
    second = Scan(tmp_path, first.states)
    assert list(second.documents) == ["n7.txt"]
    assert sorted(second.unchanged) == sorted(set(first.states) - {"n7.txt"})
    assert opened == [str(tmp_path / "n7.txt")]


def test_a_change_under_the_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    """A file written just before the scan may change again without its time moving."""
    file = tmp_path / "a.txt"
    file.write_text("one")
    first = Scan(tmp_path)
    status = file.stat()
    with file.open("r+") as stream:
        stream.write("two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = Scan(tmp_path, first.states)
    assert second.documents["a.txt"].text == "two"


def test_a_folder_that_is_gone_is_no_deletion(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="remove the source"):
        Scan(tmp_path / "gone")


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"open/a.txt": "a", "shut/b.txt": "b", "c.txt": "c"})
    true_scandir, true_open = os.scandir, os.open

    def scandir(path: Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "denied", str(path))
        return true_scandir(path)

    def opening(path: str, *arguments: int) -> int:
        if path.endswith("c.txt"):
            raise PermissionError(13, "denied", path)
        return true_open(path, *arguments)

    monkeypatch.setattr(folder_module.os, "scandir", scandir)
    monkeypatch.setattr(folder_module.os, "open", opening)
    scan = Scan(tmp_path)
    assert set(scan.documents) == {"open/a.txt"}
    assert scan.skips == {"unreadable": {"shut", "c.txt"}}


def test_nothing_that_is_no_plain_file_is_opened(tmp_path: Path) -> None:
    """A pipe would block for ever; links may lead anywhere, in circles too."""
    write(tmp_path, {"inner/a.txt": "a", "outside.txt": "o"})
    os.mkfifo(tmp_path / "inner" / "pipe")
    (tmp_path / "inner" / "up").symlink_to(tmp_path)
    (tmp_path / "inner" / "away.txt").symlink_to(tmp_path / "outside.txt")
    scan = Scan(tmp_path / "inner")
    assert set(scan.documents) == {"a.txt"}
    assert scan.skips == {"special_file": {"pipe"}, "link": {"up", "away.txt"}}


def test_names_of_any_bytes(tmp_path: Path) -> None:
    composed, apart = "caf\u00e9.txt", unicodedata.normalize("NFD", "caf\u00e9.txt")
    write(tmp_path, {composed: "one", apart: "two"})
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("x")
    scan = Scan(tmp_path)
    assert set(scan.documents) == {composed}
    assert scan.skips == {"same_name": {composed}, "unreadable_name": {"bad\ufffd.txt"}}


def test_exclusions_have_the_syntax_of_ignore_rules(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a", "drafts/b.txt": "b", "drafts/keep.txt": "k", "c.log": "c"})
    scan = Scan(tmp_path, exclude=["drafts/*", "!drafts/keep.txt", "*.log"])
    assert set(scan.documents) == {"a.txt", "drafts/keep.txt"}
    assert scan.skips == {"excluded": {"drafts/b.txt", "c.log"}}


PATTERNS = (
    "*.log", "/top.txt", "build/", "!keep.log", "docs/*.txt", "**/deep", "a?c.txt", "sub/**",
    "!sub/keep.txt", "*.txt", "!a1c.txt", "# comment", "", "build", "/sub/inner/", "[ab]*.log",
)  # fmt: skip
NAMES = ("top.txt", "a1c.txt", "keep.log", "x.log", "keep.txt", "deep", "other.md")
FOLDERS = ("", "build/", "docs/", "sub/", "sub/inner/", "sub/build/", "docs/low/")


@pytest.mark.parametrize("seed", range(40))
def test_ignore_rules_decide_as_git_does(tmp_path: Path, seed: int) -> None:
    """Random trees with random rules in several folders, against `git check-ignore`."""
    random = Random(seed)
    git(tmp_path, "init", "-q")
    for folder in FOLDERS:
        for name in random.sample(NAMES, 4):
            if not (tmp_path / folder / name).is_dir():
                write(tmp_path, {f"{folder}{name}": f"text {name}"})
    for folder in random.sample(FOLDERS, 3):
        rules = "\n".join(random.sample(PATTERNS, 5))
        write(tmp_path, {f"{folder}.gitignore": rules + "\n"})
    listed = git(tmp_path, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    wanted = {name for name in listed if name and not name.endswith(".gitignore")}
    found = {name for name in Scan(tmp_path).documents if not name.endswith(".gitignore")}
    assert found == wanted


def test_rules_of_the_folders_above_hold_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(
        tmp_path,
        {
            ".gitignore": "*.tmp\n/docs/private/\n",
            ".git/info/exclude": "scratch.md\n",
            ".gitattributes": "docs/api/** linguist-generated\n",
            "docs/a.md": "a",
            "docs/b.tmp": "b",
            "docs/scratch.md": "s",
            "docs/private/p.md": "p",
            "docs/api/x.md": "x",
            "docs/.twolaneignore": "c.md\n",
            "docs/c.md": "c",
        },
    )
    scan = Scan(tmp_path / "docs")
    assert set(scan.documents) == {"a.md", "api/x.md", ".twolaneignore"}
    assert scan.documents["api/x.md"].generated
    assert not scan.documents["a.md"].generated
    assert scan.documents["a.md"].project == tmp_path.name


def test_a_worktree_belongs_to_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "slipway"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    write(tmp_path / "elsewhere", {"a.md": "a"})
    assert Scan(tmp_path / "elsewhere").documents["a.md"].project == "slipway"


def test_attributes_can_take_back_what_they_said(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(
        tmp_path,
        {
            ".gitattributes": "*.md linguist-generated=true\nREADME.md -linguist-generated\n",
            "README.md": "<!-- Code generated by gen. DO NOT EDIT. -->\nx",
            "report.md": "x",
        },
    )
    documents = Scan(tmp_path).documents
    assert [documents[n].generated for n in ("README.md", "report.md")] == [False, True]


def test_a_scan_takes_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, {f"d{i % 7}/f{i}.txt": f"text {i}" for i in range(200)})
    first = Scan(tmp_path)
    assert len(first.documents) == 200
    again = Counter(Scan(tmp_path, first.states).unchanged)
    assert set(again) == set(first.documents)
    assert set(again.values()) == {1}
