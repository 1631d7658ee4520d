from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.client.fake import FakeDaemon
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import common_pb2

MINIMAL = ("save", "--source", "notes", "--summary", "Retries: three")


def test_every_option_is_sent(
    run: Run, served: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All fields of a request can be set from the command line."""
    monkeypatch.chdir(tmp_path)
    run(
        *MINIMAL, "--title", "T", "--content", "C", "--decision", "d1", "--decision", "d2",
        "--key-output", "k", "--topic", "t", "--domain", "work", "--intent", "i", "--client",
        "acme", "--here", "--at", "2024-05-12T00:00Z", "--quality", "high",
        "--idempotency-key", "x", "--replace-idempotency-key", "y",
    )  # fmt: skip

    expected = archive.SaveRequest(
        source="notes",
        summary="Retries: three",
        title="T",
        content="C",
        decisions=["d1", "d2"],
        key_outputs=["k"],
        topics=["t"],
        domain="work",
        intent="i",
        client="acme",
        cwd=str(tmp_path),
        quality=common_pb2.QUALITY_HIGH,
        idempotency_key="x",
        replace_idempotency_key="y",
    )
    expected.occurred_at.FromDatetime(datetime(2024, 5, 12, tzinfo=UTC))
    assert expected == served.last("Save")
    assert {field.name for field, _ in expected.ListFields()} == set(
        archive.SaveRequest.DESCRIPTOR.fields_by_name
    )


def test_the_id_is_the_data(run: Run, served: FakeDaemon) -> None:
    """Standard output holds the id alone; what became of it and warnings stand beside it."""
    served.saved = archive.SaveResponse(
        id="notes:1", outcome=archive.SAVE_OUTCOME_REPLACED, warnings=["No decision was given."]
    )

    ended = run(*MINIMAL)

    assert (0, "notes:1\n") == (ended.code, ended.out)
    assert "Replaced.\nwarning: No decision was given.\n" == ended.err


def test_json_is_the_answer(run: Run, served: FakeDaemon) -> None:
    """With --json the whole answer is one object."""
    served.saved = archive.SaveResponse(id="notes:1", outcome=archive.SAVE_OUTCOME_CREATED)

    ended = run(*MINIMAL, "--json")

    assert ("notes:1", "created") == (ended.objects[0]["id"], ended.objects[0]["outcome"])
    assert "" == ended.err


def test_the_text_comes_from_a_file_or_a_pipe(
    run: Run, served: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long texts need no quoting."""
    file = tmp_path / "talk.md"
    file.write_text("# Größe\r\n", encoding="utf-8", newline="")
    run(*MINIMAL, "-f", file)
    assert "# Größe\r\n" == served.last("Save").content

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("語".encode())))
    run("save", "--source", "notes", "--summary", "-")
    assert "語" == served.last("Save").summary


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(("--content", "x", "-f", "y"), "either --content or --file", id="two texts"),
        pytest.param(("--here", "--cwd", "/"), "either --here or --cwd", id="two folders"),
        pytest.param(("--quality", "great"), "low", id="quality"),
    ],
)
def test_contradictions_are_refused(
    run: Run, served: FakeDaemon, arguments: tuple[str, ...], sentence: str
) -> None:
    """What cannot both be meant is not guessed at."""
    ended = run(*MINIMAL, *arguments)

    assert 2 == ended.code
    assert sentence in ended.err
    assert [] == served.named("Save")


def test_a_text_that_is_none_is_refused(run: Run, served: FakeDaemon, tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are not stored as something else."""
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG")

    ended = run(*MINIMAL, "-f", file)

    assert 2 == ended.code
    assert "not UTF-8 text (byte 0)" in ended.err
