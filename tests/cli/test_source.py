from __future__ import annotations

from pathlib import Path

import pytest
from google.rpc import code_pb2

from tests.cli.conftest import Run
from tests.client.fake import Failure, FakeDaemon
from twolane.v1 import source_service_pb2 as pb


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def test_add_follows_and_reads(run: Run, served: FakeDaemon, folder: Path) -> None:
    """A folder is added with its options and scanned at once."""
    ended = run(
        "source", "add", folder, "--scope", "client", "--client-name", "acme", "--extraction",
        "local", "--exclude", "*.log", "--exclude", "build/",
    )  # fmt: skip

    assert 0 == ended.code
    expected = pb.Source(
        path=str(folder),
        scope=pb.SOURCE_SCOPE_CLIENT,
        client_name="acme",
        extraction=pb.EXTRACTION_LOCAL,
        exclude=["*.log", "build/"],
    )
    assert expected == served.last("AddSource").source
    assert ["s1"] == list(served.last("ScanSources").ids)
    assert "1 new, 0 replaced, 0 unchanged" in ended.out
    assert f"Following {folder}." in ended.err


def test_add_can_wait_with_reading(run: Run, served: FakeDaemon, folder: Path) -> None:
    """--no-scan only adds the folder."""
    ended = run("source", "add", folder, "--no-scan")

    assert f"s1  {folder}\n" == ended.out
    assert [] == served.named("ScanSources")


def test_add_twice_is_code_1(run: Run, served: FakeDaemon, folder: Path) -> None:
    """A folder that is followed already is said to be."""
    served.failures["AddSource"] = Failure(
        code_pb2.ALREADY_EXISTS, "It is followed already.", "ALREADY_EXISTS"
    )

    ended = run("source", "add", folder)

    assert 1 == ended.code
    assert "followed already" in ended.err
    assert [] == served.named("ScanSources")


def test_a_folder_that_is_not_there_is_wrong_usage(run: Run, served: FakeDaemon) -> None:
    """A misspelt folder is noticed before the daemon is asked."""
    assert 2 == run("source", "add", "/no/such/folder").code
    assert [] == served.calls


def test_list_is_a_table(run: Run, served: FakeDaemon) -> None:
    """Folders stand in a table that fits; what went wrong with one stands beside it."""
    served.sources["s1"] = pb.Source(
        id="s1", path="/home/ada/notes", scope=pb.SOURCE_SCOPE_PROJECT, documents=1145
    )
    served.sources["s2"] = pb.Source(
        id="s2",
        path="/home/ada/" + "x" * 200,
        scope=pb.SOURCE_SCOPE_DOCUMENT,
        last_error="permission denied\x1b[2J",
    )

    ended = run("source", "list")

    head, first, second = ended.out.splitlines()
    assert ["id", "folder", "scope", "documents", "scanned"] == head.split()
    assert ["s1", "/home/ada/notes", "project", "1,145", "never"] == first.split()
    assert len(second) <= 80
    assert "permission denied␛[2J" in ended.err


def test_list_of_none_says_how_to_add(run: Run, served: FakeDaemon) -> None:
    """An empty list is no dead end, and no data."""
    ended = run("source", "list")

    assert (0, "") == (ended.code, ended.out)
    assert "twolane source add FOLDER" in ended.err


def test_list_as_json(run: Run, served: FakeDaemon) -> None:
    """Each folder is one object."""
    served.sources["s1"] = pb.Source(id="s1", path="/a", scope=pb.SOURCE_SCOPE_DOCUMENT)

    assert [("s1", "document")] == [
        (source["id"], source["scope"]) for source in run("source", "list", "--json").objects
    ]


def test_scan_reads_all_or_some(run: Run, served: FakeDaemon, folder: Path) -> None:
    """Without names every folder is read; a folder that is there is named in full."""
    run("source", "scan")
    assert [] == list(served.last("ScanSources").ids)

    run("source", "scan", "s1", folder)
    assert ["s1", str(folder)] == list(served.last("ScanSources").ids)


def test_scan_as_json_streams(run: Run, served: FakeDaemon) -> None:
    """Progress comes as it is made; the last line is done."""
    assert [False, True] == [line["done"] for line in run("source", "scan", "--json").objects]


def test_remove_says_what_stays(run: Run, served: FakeDaemon) -> None:
    """Documents leave the index; files stay."""
    ended = run("source", "remove", "s1")

    assert "3 documents left the index. The files are where they were.\n" == ended.out
    assert [{"documents_removed": "3"}] == run("source", "remove", "s1", "--json").objects
