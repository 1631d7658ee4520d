"""The serving process killed while it imports and saves: what a client was told is there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from grpc import aio

from tests.faults.test_kill import assert_whole
from tests.support.daemon import Daemon, gone
from tests.support.sockets import short_folder
from tests.writer.harness import conversation, sentence, write_export
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as searching

ROUNDS = 50
CONVERSATIONS = 300


async def work(daemon: Daemon, export: Path, random: Random, known: dict[str, str]) -> int:
    """Import and save until the connection breaks; returns the rows the import has told of."""
    told = 0

    async def save() -> None:
        while True:
            summary = sentence(random, 30)
            reply = await daemon.archive.Save(archive.SaveRequest(source="notes", summary=summary))
            known[reply.id] = summary

    async def bring_in() -> None:
        nonlocal told
        request = archive.ImportRequest(header=archive.ImportHeader(path=str(export)))
        async for reply in daemon.archive.Import(iter([request])):
            told = reply.totals.rows_new

    results = await asyncio.gather(save(), bring_in(), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, aio.AioRpcError):
            raise result
    return told


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_daemon_killed_at_random_moments() -> None:
    """Fifty times: every acknowledged save is whole and found, and the next start is clean."""
    random = Random(31)
    known: dict[str, str] = {}
    with short_folder() as home:
        for _ in range(ROUNDS):
            with_before = len(rows(home)) if known else 0
            export = write_export(
                home / "export.json", [conversation(random) for _ in range(CONVERSATIONS)]
            )
            saved: dict[str, str] = {}
            daemon = Daemon(home)
            await daemon.start()
            writer = daemon.writer_pid()
            task = asyncio.create_task(work(daemon, export, random, saved))
            await asyncio.wait((task,), timeout=random.uniform(0.02, 0.8))
            daemon.process.kill()
            told = await task
            await daemon.ended()
            await gone(writer)
            known |= saved
            store, index = assert_whole(daemon.data)
            with store.view() as view:
                assert len(view.numbers()) >= with_before + told + len(saved)
                for row_id, summary in known.items():
                    number = view.number(row_id)
                    assert number is not None
                    row = view.row(number)
                    assert row is not None
                    assert row.summary == summary
            del index
            store.close()
        daemon = Daemon(home)
        await daemon.start()
        row_id, summary = random.choice(list(known.items()))
        words = " ".join(summary.split()[:9])
        replies = daemon.searching.Search(searching.SearchRequest(query=f'"{words}"'))
        found = [r.id async for reply in replies for r in reply.results]
        assert row_id in found
        assert await daemon.stop() == 0


def rows(home: Path) -> list[int]:
    store, index = assert_whole(home / "data")
    with store.view() as view:
        numbers = view.numbers()
    del index
    store.close()
    return numbers
