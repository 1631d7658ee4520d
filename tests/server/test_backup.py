"""Backup and restore as a person does them: a real daemon, the command line, a drill."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest_asyncio
from google.protobuf.duration_pb2 import Duration

from tests.faults.test_kill import assert_whole
from tests.server.test_delete_export import bring_in, exported
from tests.server.test_meaning import SIZE as DIMENSIONS
from tests.server.test_meaning import House
from tests.server.test_rpcs import find
from tests.support.daemon import Daemon, running
from tests.support.details import collected, failure, reason, violated
from tests.support_http.ollama_api import OllamaServer
from tests.writer.harness import conversation, sentence
from twolane.v1 import admin_service_pb2 as admin
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import compaction_service_pb2 as compactions
from twolane.v1 import feedback_service_pb2 as feedback
from twolane.v1.compaction_service_pb2_grpc import CompactionServiceStub
from twolane.v1.feedback_service_pb2_grpc import FeedbackServiceStub

QUERIES = (
    "ferry harbour", "retry ledger invoice", '"tide anchor"', "cargo -manifest", "berth pilot",
    "timetable source:claude-ai", "zqxjk",
)  # fmt: skip


@pytest_asyncio.fixture
async def daemon() -> AsyncIterator[Daemon]:
    async with running() as daemon:
        yield daemon


async def backup(daemon: Daemon, path: Path | str) -> admin.BackupReport:
    answers = await collected(daemon.admin.Backup(admin.BackupRequest(path=str(path))))
    assert [False] * (len(answers) - 1) + [True] == [answer.done for answer in answers]
    assert answers[-1].bytes_done == answers[-1].bytes_total
    made: admin.BackupReport = answers[-1].backup
    return made


async def cli(*arguments: str | Path, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run the command line; its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "twolane", *map(str, arguments),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})},
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def answers_of(daemon: Daemon) -> list[Any]:
    """What searches, exports and the log of evidence say."""
    found = []
    for query in QUERIES:
        answer = await find(daemon, query)
        found.append([(r.id, r.tier, r.found_by) for r in answer.results])
    log = FeedbackServiceStub(daemon.channel)
    entries = (await log.WhyEvidence(feedback.WhyEvidenceRequest(session_id="s"))).entries
    listed = await CompactionServiceStub(daemon.channel).ListCompactions(
        compactions.ListCompactionsRequest()
    )
    return [found, await exported(daemon), list(entries), list(listed.compactions)]


async def test_a_restore_drill(tmp_path: Path) -> None:
    """Segments, vectors, tombstones, tiers and the log of evidence come back; answers are equal."""
    random = Random(5)
    chats = [conversation(random, turns=24) for _ in range(340)]
    copy, restored = tmp_path / "copy", tmp_path / "restored"
    async with OllamaServer({"all-minilm": DIMENSIONS}) as ollama:
        config = (
            f'[embedding]\nprovider = "ollama"\nmodel = "all-minilm"\n'
            f'output_dimension = {DIMENSIONS}\nbase_url = "{ollama.url}"\n'
        )
        async with running(config=config) as daemon:
            house = House(daemon, ollama)
            await bring_in(daemon, chats[:320])
            compacting = compactions.CompactRequest(older_than=Duration())
            await collected(CompactionServiceStub(daemon.channel).Compact(compacting))
            await bring_in(daemon, chats[320:])
            gone = f"claude-ai:{chats[3]['uuid']}"
            await daemon.archive.Delete(archive.DeleteRequest(ids=[gone]))
            await FeedbackServiceStub(daemon.channel).LogOutcome(
                feedback.LogOutcomeRequest(session_id="s", task="drill", note="kept")
            )
            await house.save("The ferry queue is long.")
            await house.until_embedded()
            expected = await answers_of(daemon)
            told = await backup(daemon, copy)
            assert (len(chats), told.path) == (told.rows, str(copy))
            assert told.vectors > len(chats)
            assert list((copy / "store" / "segments").iterdir())

            code, out, err = await cli("restore", copy, "--into", restored)
            assert (0, "") == (code, err)
            assert f"Restored {len(chats)} rows" in out
            assert str(copy / "config.toml") in out
            assert config == (copy / "config.toml").read_text()

            async with running("--data", str(restored), config=config) as second:
                again = House(second, ollama)
                await again.until_embedded()
                assert expected == await answers_of(second)
                totals = (await bring_in(second, chats)).totals
                assert (len(chats) - 1, 0) == (totals.rows_unchanged, totals.rows_new)
                assert [("deleted", 1)] == [(s.reason, s.count) for s in totals.skips]


async def test_saves_and_an_import_go_on_while_it_copies(daemon: Daemon, tmp_path: Path) -> None:
    """What was acknowledged before is in it, whole; what comes meanwhile is not held up by it."""
    random = Random(6)
    await bring_in(daemon, [conversation(random, turns=6) for _ in range(300)])
    before = {(await note(daemon, random)) for _ in range(5)}
    copying = asyncio.ensure_future(backup(daemon, tmp_path / "copy"))
    more = [conversation(random, turns=6) for _ in range(300)]
    importing = asyncio.ensure_future(bring_in(daemon, more))
    during = set()
    while not copying.done():
        during.add(await note(daemon, random))
    told = await copying
    assert during
    await importing

    check = ("sha256sum", "-c", "--quiet", "SHA256SUMS")
    checking = await asyncio.create_subprocess_exec(*check, cwd=tmp_path / "copy")
    assert 0 == await checking.wait()
    store, index = assert_whole(tmp_path / "copy")
    with store.view() as view:
        assert all(view.number(row_id) is not None for row_id in before)
        assert told.rows == len(view.numbers())
    del index
    store.close()


async def note(daemon: Daemon, random: Random) -> str:
    request = archive.SaveRequest(source="notes", summary=sentence(random, 12))
    return str((await daemon.archive.Save(request)).id)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def test_a_place_that_will_not_do_is_refused(daemon: Daemon, tmp_path: Path) -> None:
    """With the reason, and with nothing left there."""
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(daemon.data)
    for path, said in {
        tmp_path / "there": "ALREADY_EXISTS",
        tmp_path / "file": "ALREADY_EXISTS",
        tmp_path / "missing" / "copy": "NOT_FOUND",
        daemon.data / "copy": "INSIDE_DATA_FOLDER",
        link / "copy": "INSIDE_DATA_FOLDER",
    }.items():
        assert said == reason(await failure(backup(daemon, path))), path
    assert "path" == violated(await failure(backup(daemon, "copy")))
    assert ["file", "link", "there"] == names(tmp_path)
    assert "mine" == (tmp_path / "file").read_text()


async def test_a_damaged_backup_restores_nothing(daemon: Daemon, tmp_path: Path) -> None:
    """The command line says which file is damaged, and leaves no folder behind."""
    await bring_in(daemon, [conversation(Random(8)) for _ in range(20)])
    copy, into = tmp_path / "copy", tmp_path / "into"
    await backup(daemon, copy)
    main = copy / "store" / "main" / "data.mdb"
    whole = main.read_bytes()
    main.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

    code, _, err = await cli("restore", copy, "--into", into, "--json")
    error = json.loads(err)["error"]
    assert (1, "BACKUP_DAMAGED") == (code, error["reason"])
    assert "store/main/data.mdb is not what it was" in error["message"]
    assert not into.exists()

    code, _, err = await cli("restore", copy, "--into", daemon.data)
    assert 1 == code
    assert "Another twolane process is using this data folder" in err
