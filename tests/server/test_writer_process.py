"""The life of the writer, with a fake one that speaks the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from twolaned.model.errors import (
    DiskFull,
    InvalidInput,
    NotFound,
    StoreCorrupt,
    TwolaneError,
    Unavailable,
)
from twolaned.model.source import Source
from twolaned.server import index_follower, writer_session
from twolaned.server.index_follower import IndexFollower
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.writer_process import WriterProcess
from twolaned.writer.protocol import (
    AddSource,
    Done,
    ImportPath,
    Progress,
    RemoveSource,
    Save,
    Saved,
    ScanSources,
    SourceRemoved,
)

SCRIPT = Path(__file__).parents[1] / "support" / "fake_writer.py"


class FakeLive:
    """An index whose store is the fake writer's one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generation = 0
        self.refreshes = 0
        self.error: Exception | None = None
        self.steps = 0

    @property
    def behind(self) -> bool:
        return self.refreshes < self.steps

    def refresh(self) -> int:
        self.refreshes += 1
        if self.error is not None:
            raise self.error
        file = self.folder / "generation"
        self.generation = int(file.read_text()) if file.exists() else 0
        return self.generation


class Errors(RecentErrors):
    """Errors that tell when there is a new one."""

    def __init__(self, news: asyncio.Event) -> None:
        super().__init__()
        self._news = news

    def add(self, where: str, message: str) -> None:
        super().add(where, message)
        self._news.set()


class House:
    """A writer with what is around it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.live = FakeLive(folder)
        self.news = asyncio.Event()
        self.errors = Errors(self.news)
        self.follower = IndexFollower(self.errors)
        self.states: list[str] = []
        self.writer = WriterProcess(
            [sys.executable, str(SCRIPT), str(folder)],
            self.follower,
            self.errors,
        )
        self.writer.on_change(self.changed)

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    def changed(self) -> None:
        self.states.append(self.writer.state)
        self.news.set()

    async def until(self, state: str) -> None:
        await self.until_true(lambda: self.writer.state == state)

    async def until_errors(self, count: int) -> None:
        await self.until_true(lambda: len(self.errors.newest_first()) >= count)

    async def until_true(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                await self.news.wait()
                self.news.clear()

    async def reach(self, generation: int) -> None:
        async with asyncio.timeout(20):
            await self.follower.reach(generation)


@contextlib.asynccontextmanager
async def running(folder: Path) -> AsyncIterator[House]:
    house = House(folder)
    tasks = [
        asyncio.create_task(house.follower.run(house.live)),
        asyncio.create_task(house.writer.run()),
    ]
    try:
        yield house
    finally:
        await house.writer.stop(5)
        await asyncio.wait_for(tasks[1], 5)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        house.follower.close()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with running(tmp_path) as house:
        yield house


def note(summary: str) -> Save:
    return Save(source="test", summary=summary)


async def test_an_answer_comes_when_the_index_has_followed(house: House) -> None:
    """Whoever saved and then searches finds what was saved."""
    done = await house.writer.call(note("one"))

    assert isinstance(done.result, Saved)
    assert (1, 1) == (done.generation, house.live.generation)


async def test_every_kind_of_request_is_answered(house: House, tmp_path: Path) -> None:
    """Requests that are under way together each get their own answer."""
    file = tmp_path / "export"
    file.write_bytes(b"12345")
    source = Source(id="s", path="/notes")

    ends = await asyncio.gather(
        house.writer.call(AddSource(source)),
        house.writer.call(RemoveSource("s")),
        house.writer.call(ImportPath(path=str(file), name="export")),
        house.writer.call(ScanSources()),
    )

    assert source == ends[0].result.source  # type: ignore[union-attr]
    assert SourceRemoved(2) == ends[1].result
    assert 5 == ends[2].result.report.bytes_seen  # type: ignore[union-attr]
    assert 0 == ends[3].result.report.bytes_seen  # type: ignore[union-attr]
    assert house.live.generation == max(end.generation for end in ends)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("InvalidInput", InvalidInput, id="invalid"),
        pytest.param("NotFound", NotFound, id="not found"),
        pytest.param("DiskFull", DiskFull, id="disk full"),
        pytest.param("StoreCorrupt", StoreCorrupt, id="corrupt"),
        pytest.param("SomethingNew", TwolaneError, id="unknown"),
    ],
)
async def test_an_error_of_the_writer_is_raised_here(
    house: House, name: str, kind: type[TwolaneError]
) -> None:
    """Its class, sentence, reason and variables survive the pipe."""
    with pytest.raises(TwolaneError) as caught:
        await house.writer.call(note(f"refuse:{name}"))

    assert kind is type(caught.value)
    assert f"It is a {name}." == caught.value.message
    assert ("WHY", "that") == (caught.value.reason, caught.value.metadata["what"])
    if isinstance(caught.value, InvalidInput):
        assert "summary" == caught.value.field


async def test_a_writer_that_dies_fails_what_runs_and_comes_back(house: House) -> None:
    """The running request is told to try again, and doing so works."""
    assert await house.writer.call(note("before"))
    first = house.pid

    with pytest.raises(Unavailable) as caught:
        await house.writer.call(note("die"))

    assert "WRITER_RESTARTING" == caught.value.reason
    assert isinstance(await house.writer.call(note("after")), Done)
    assert first != house.pid
    assert "exit status 3" in house.errors.newest_first()[0].message
    assert ["running", "restarting", "running"] == house.states


async def test_a_killed_writer_comes_back(house: House) -> None:
    """A kill from outside is told from an exit, and the next request waits for the new writer."""
    await house.until("running")
    os.kill(house.pid, signal.SIGKILL)
    await house.until("restarting")

    assert isinstance(await house.writer.call(note("after")), Done)
    assert "SIGKILL" in house.errors.newest_first()[0].message


async def test_a_stream_tells_progress_and_cancels_when_it_is_left(house: House) -> None:
    """The writer stops the job of a caller that has gone."""
    async with aclosing(house.writer.stream(ImportPath(path="/slow", name="my.zip"))) as events:
        seen = []
        async for event in events:
            assert isinstance(event, Progress)
            assert "importing my.zip" == house.writer.activity
            seen.append(event.report.bytes_seen)
            if len(seen) == 3:
                break

    assert seen == sorted(seen)
    await house.reach(1)
    assert "" == house.writer.activity


async def test_a_cancelled_caller_cancels_the_job(house: House) -> None:
    """Cancellation reaches the writer also while nothing is said."""
    task = asyncio.create_task(house.writer.call(ImportPath(path="/stuck", name="x")))
    await house.reach(1)
    assert "importing x" == house.writer.activity
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await house.reach(2)


async def test_progress_that_nobody_reads_does_not_pile_up(house: House) -> None:
    """A slow reader gets the latest totals, not every one since."""
    async with aclosing(house.writer.stream(ImportPath(path="/slow", name="x"))) as events:
        first = await anext(events)
        await asyncio.to_thread(house_waits)
        second = await anext(events)

    assert isinstance(first, Progress)
    assert isinstance(second, Progress)
    assert second.report.bytes_seen > first.report.bytes_seen + 1


def house_waits() -> None:
    """A reader that is busy elsewhere for a tenth of a second."""
    signal.sigtimedwait([], 0.1)


async def test_a_failing_index_is_told_to_who_waits_for_it(house: House) -> None:
    """What is stored but cannot be found yet is no success, and `Status` says so."""
    house.live.error = StoreCorrupt("It is damaged. Run `twolane doctor`.")
    with pytest.raises(StoreCorrupt):
        await house.writer.call(note("one"))
    assert house.follower.failing
    assert "doctor" in house.errors.newest_first()[0].message

    house.live.error = None
    assert 2 == (await house.writer.call(note("two"))).generation
    assert not house.follower.failing


async def test_an_index_that_failed_is_tried_again_without_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored is found as soon as it can be; the trouble is told once, not each time."""
    monkeypatch.setattr(index_follower, "FIRST_DELAY", 0.01)
    live, errors = FakeLive(tmp_path), RecentErrors()
    live.error = StoreCorrupt("It is damaged.")
    (tmp_path / "generation").write_text("1")
    follower = IndexFollower(errors)
    task = asyncio.create_task(follower.run(live))
    try:
        with pytest.raises(StoreCorrupt):
            await follower.reach(1)
        with pytest.raises(StoreCorrupt):  # the next try fails too
            await follower.reach(1)
        live.error = None
        await asyncio.wait_for(follower.reach(1), 20)
        failing = follower.failing
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        follower.close()

    assert not failing
    assert ["index"] == [error.where for error in errors.newest_first()]


async def test_the_writers_log_is_in_ours(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Lines keep their level; others count as warnings."""
    caplog.set_level(logging.INFO, "twolaned.writer")
    await house.until("running")
    with pytest.raises(Unavailable):
        await house.writer.call(note("die"))
    await house.until("running")

    assert ("twolaned.writer", logging.INFO, "hello") in caplog.record_tuples


async def test_a_writer_that_never_gets_ready_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request meanwhile is told how long to wait."""
    monkeypatch.setenv("FAKE_WRITER", "silent")
    monkeypatch.setattr(writer_session, "READY_SECONDS", 0.3)
    monkeypatch.setattr("twolaned.server.writer_process.PATIENCE", 0.1)
    async with running(tmp_path) as house:
        with pytest.raises(Unavailable):
            await house.writer.call(note("x"))
        monkeypatch.delenv("FAKE_WRITER")
        monkeypatch.setattr(writer_session, "READY_SECONDS", 60)
        await house.until("running")
        assert 1 == (await house.writer.call(note("x"))).generation


async def test_a_writer_that_speaks_nonsense_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes that are no frame of the protocol end the session, not the daemon."""
    monkeypatch.setenv("FAKE_WRITER", "broken")
    async with running(tmp_path) as house:
        await house.until_errors(1)
        monkeypatch.delenv("FAKE_WRITER")
        await house.until("running")


async def test_restarts_slow_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that cannot start is tried ever less often."""
    monkeypatch.setenv("FAKE_WRITER", "fails")
    monkeypatch.setattr("twolaned.server.writer_process.FIRST_DELAY", 0.01)
    waited: list[float | None] = []
    real = asyncio.timeout

    def timeout(seconds: float | None) -> asyncio.Timeout:
        waited.append(seconds)
        return real(seconds)

    monkeypatch.setattr("twolaned.server.writer_process.asyncio.timeout", timeout)
    async with running(tmp_path) as house:
        await house.until_errors(4)
        delays = [seconds for seconds in waited if seconds is not None and seconds < 0.1]

    assert [0.01, 0.02, 0.04] == delays[:3]


async def test_nobody_waits_for_a_writer_that_is_far_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between late tries a request fails at once and says when the next one is."""
    monkeypatch.setenv("FAKE_WRITER", "fails")
    monkeypatch.setattr("twolaned.server.writer_process.FIRST_DELAY", 7_200.0)
    monkeypatch.setattr("twolaned.server.writer_process.PATIENCE", 3_600.0)
    async with running(tmp_path) as house:
        await house.until_errors(1)
        async with asyncio.timeout(20):
            with pytest.raises(Unavailable) as refused:
                await house.writer.call(note("one"))

    assert 3_600 < refused.value.retry_after <= 7_200
    assert "WRITER_RESTARTING" == refused.value.reason


async def test_a_writer_that_cannot_be_run_at_all_is_said(tmp_path: Path) -> None:
    """A missing program is an error in `Status`, not the daemon's end."""
    house = House(tmp_path)
    house.writer = WriterProcess(["/nowhere/python"], house.follower, house.errors)
    task = asyncio.create_task(house.writer.run())
    await house.until_errors(1)
    await house.writer.stop(1)
    await asyncio.wait_for(task, 5)
    house.follower.close()

    assert "could not be started" in house.errors.newest_first()[0].message
    assert "stopped" == house.writer.state


async def test_stopping_closes_the_writers_input(tmp_path: Path) -> None:
    """A clean stop lets the writer end by itself; afterwards nothing is accepted."""
    async with running(tmp_path) as house:
        await house.until("running")
        pid = house.pid
        await house.writer.stop(5)
        await house.until("stopped")
        with pytest.raises(Unavailable):
            await house.writer.call(note("late"))

    assert not alive(pid)
    assert () == house.errors.newest_first()


async def test_a_writer_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopping takes no longer than its grace."""
    monkeypatch.setenv("FAKE_WRITER", "deaf")
    async with running(tmp_path) as house:
        await house.until("running")
        pid = house.pid
        async with asyncio.timeout(10):
            await house.writer.stop(0.2)

    assert not alive(pid)


async def test_an_index_that_is_behind_is_refreshed_unasked(tmp_path: Path) -> None:
    """Until it says that there is no more to do."""
    live = FakeLive(tmp_path)
    live.steps = 3
    follower = IndexFollower(RecentErrors())
    task = asyncio.create_task(follower.run(live))
    (tmp_path / "generation").write_text("1")
    await asyncio.wait_for(follower.reach(1), 20)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), 0.2)
    task.cancel()
    follower.close()

    assert 3 == live.refreshes


async def test_announcements_are_answered_together(tmp_path: Path) -> None:
    """Many commits while one refresh runs cost one more refresh."""
    live = FakeLive(tmp_path)
    begun, go = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    real: Callable[[], int] = live.refresh

    def refresh() -> int:
        if not live.refreshes:
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result(20)
        return real()

    live.refresh = refresh  # type: ignore[method-assign]
    follower = IndexFollower(RecentErrors())
    task = asyncio.create_task(follower.run(live))
    (tmp_path / "generation").write_text("1")
    follower.announce(1)
    await begun.wait()
    (tmp_path / "generation").write_text("50")
    for generation in range(2, 51):
        follower.announce(generation)
    go.set()
    await asyncio.wait_for(follower.reach(50), 20)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    follower.close()

    assert 2 >= live.refreshes


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
