from __future__ import annotations

import os
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from tests.ingest.documents.folders import LONG_AGO, Scan, write
from twolaned.ingest import folder as folder_module
from twolaned.ingest.decoding import HEAD_BYTES
from twolaned.ingest.folder import AT_ONCE, RACY_NS, FileState, scan_folder
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.progress import ReadProgress
from twolaned.model.errors import NotFound


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


def test_a_scan_takes_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, {f"d{i % 7}/f{i}.txt": f"text {i}" for i in range(200)})
    first = Scan(tmp_path)
    assert len(first.documents) == 200
    again = Counter(Scan(tmp_path, first.states).unchanged)
    assert set(again) == set(first.documents)
    assert set(again.values()) == {1}


def test_a_folder_that_may_not_be_read_is_no_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drive that fails gives an error, not a folder without files."""
    write(tmp_path, {"a.txt": "a"})

    def scandir(path: Path) -> object:
        raise OSError(5, "input/output error", str(path))

    monkeypatch.setattr(folder_module.os, "scandir", scandir)
    with pytest.raises(NotFound, match="cannot be read"):
        Scan(tmp_path)


def test_a_folder_that_cannot_be_read_is_named_as_its_documents_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer finds by that name what it must keep."""
    apart = unicodedata.normalize("NFD", "caf\u00e9")
    write(tmp_path, {f"{apart}/a.txt": "a"})
    first = Scan(tmp_path)
    true_scandir = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == apart:
            raise PermissionError(13, "denied", str(path))
        return true_scandir(path)

    monkeypatch.setattr(folder_module.os, "scandir", scandir)
    (folder,) = Scan(tmp_path, first.states).skips["unreadable"]
    assert set(first.states) == {f"{folder}/a.txt"}


def test_every_place_can_be_said(tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd\xff")
    write(
        tmp_path,
        {f"{odd}/node_modules/x": "x", f"{odd}/a.log": "a", f"{odd}/b.tmp": "b", f"{odd}/c": "c"},
    )
    (tmp_path / ".gitignore").write_text("*.log")
    skips = Scan(tmp_path, exclude=["*.tmp"]).skips
    assert skips == {
        "tool_folder": {"odd\ufffd/node_modules"},
        "ignored": {"odd\ufffd/a.log"},
        "excluded": {"odd\ufffd/b.tmp"},
        "unreadable_name": {"odd\ufffd/c"},
    }
    for where in set().union(*skips.values()):
        where.encode()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", [".gitignore", ".twolaneignore", ".gitattributes"])
def test_a_pipe_in_the_place_of_rules_stops_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"a.txt": "a"})
    os.mkfifo(tmp_path / name)
    scan = Scan(tmp_path)
    assert set(scan.documents) == {"a.txt"}
    assert scan.skips == {"special_file": {name}}


def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its time says then: a clock elsewhere may be late."""
    write(tmp_path, {"a.txt": "one"})
    true_fstat, calls = os.fstat, []

    def fstat(descriptor: int) -> os.stat_result:
        calls.append(descriptor)
        if len(calls) == 2:
            write(tmp_path, {"a.txt": "longer"})
        return true_fstat(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(folder_module.os, "fstat", fstat)
        first = Scan(tmp_path)
    assert first.documents["a.txt"].text == "one"
    assert first.states["a.txt"].size == len("longer")
    second = Scan(tmp_path, first.states)
    assert second.documents["a.txt"].text == "longer"
    assert Scan(tmp_path, second.states).unchanged == ["a.txt"]


def test_of_a_file_that_is_no_text_only_the_head_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"core": b"\0" * 100_000})
    *_, progress = scan_folder(tmp_path, exclude=(), limits=IngestLimits(), known={})
    assert isinstance(progress, ReadProgress)
    assert 0 < progress.bytes_done <= HEAD_BYTES


def test_folders_that_tools_mark_as_their_own(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55",
            "target/out.txt": "o",
            "py3/pyvenv.cfg": "home = /usr",
            "py3/lib/x.py": "x",
            "home/.ssh/config": "Host x",
            "CACHEDIR.TAG": "the folder itself was named by the person",
        },
    )
    scan = Scan(tmp_path)
    assert set(scan.documents) == {"CACHEDIR.TAG"}
    assert scan.skips == {"tool_folder": {"target", "py3"}, "secret_file": {"home/.ssh"}}


def test_a_key_under_any_name_is_not_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "deploy.txt": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n",
            "cert.txt": "-----BEGIN CERTIFICATE-----\nMIIB\n",
            "howto.md": "A key begins with\n-----BEGIN RSA PRIVATE KEY-----\n",
        },
    )
    scan = Scan(tmp_path)
    assert set(scan.documents) == {"cert.txt", "howto.md"}
    assert scan.skips == {"secret_file": {"deploy.txt"}}


@pytest.mark.slow
def test_many_files_that_did_not_change_cost_no_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20_000):
        folder = tmp_path / f"f{number % 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.txt").touch()
    status = {str(p.relative_to(tmp_path)): p.stat() for p in tmp_path.rglob("*.txt")}
    known = {
        name: FileState(s.st_size, s.st_mtime_ns, s.st_ino, b"", s.st_mtime_ns + 3 * RACY_NS)
        for name, s in status.items()
    }

    def opening(path: str, *arguments: object) -> int:
        raise AssertionError(f"{path} was opened")

    monkeypatch.setattr(folder_module.os, "open", opening)
    scan = Scan(tmp_path, known)
    assert sorted(scan.unchanged) == sorted(known)
    assert max(scan.batches) <= AT_ONCE
    assert not scan.documents
    assert not scan.skips
