"""A server of the services, with stand-ins for the rest of the process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from grpc import aio

from tests.support.fake_ports import FakeWriter
from tests.support.sockets import served
from twolane.v1.admin_service_pb2_grpc import add_AdminServiceServicer_to_server
from twolane.v1.archive_service_pb2_grpc import add_ArchiveServiceServicer_to_server
from twolane.v1.compaction_service_pb2_grpc import add_CompactionServiceServicer_to_server
from twolane.v1.source_service_pb2_grpc import add_SourceServiceServicer_to_server
from twolaned.config import Settings
from twolaned.lanes.meaning import RecallReport
from twolaned.model.compaction import CompactionReport
from twolaned.model.query import RankingDate, Similarity
from twolaned.model.result import SearchMode
from twolaned.model.source import Source
from twolaned.search.recall_check import RecallCheck
from twolaned.server.interceptors import CallInterceptor, Gate
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.spool import SpoolFolder
from twolaned.services.admin_service import AdminService
from twolaned.services.archive_service import ArchiveService
from twolaned.services.compaction_service import CompactionDefaults, CompactionService
from twolaned.services.daemon_status import DaemonStatus
from twolaned.services.source_service import SourceService

STATUS = DaemonStatus(
    version="1.2",
    pid=77,
    started_at=1_000,
    uptime_us=5,
    start_up_us=6,
    data_path="/data",
    endpoint="unix:/s",
    config_path="/c",
    format_version=1,
    index_generation=3,
    tiers=(),
    sources=(),
    passages=4,
    segments=1,
    memtable_passages=2,
    terms=9,
    disk_bytes=10,
    disk_free_bytes=11,
    memory_bytes=12,
    lanes=(),
    mode=SearchMode.LEXICAL,
    similarity=Similarity.MAX,
    ranking_date=RankingDate.INDEXED,
    writer_state="running",
    writer_activity="",
    recent_errors=(),
    next_action="Do it.",
    searches=13,
    recall=(RecallCheck("test/model/8", RecallReport(5, 30, 0.99, 0.9), 14),),
)


class Rooms:
    """The services' surroundings."""

    def __init__(self, folder: Path) -> None:
        self.spool = folder / "spool"
        self.spool.mkdir()
        self.writer = FakeWriter()
        self.executor = ThreadPoolExecutor(1)
        self.sources: tuple[Source, ...] = ()
        self.snapshot: Any = None
        self.now = STATUS
        self.looks = 0
        self.looked = asyncio.Event()
        self.graces: list[float] = []
        self.compactions: list[CompactionReport] = []

    async def status(self) -> DaemonStatus:
        self.looks += 1
        self.looked.set()
        return self.now

    async def past_compactions(self) -> list[CompactionReport]:
        return self.compactions

    def shut_down(self, grace: float) -> int:
        self.graces.append(grace)
        return STATUS.pid

    def register(self, server: aio.Server) -> None:
        archive = ArchiveService(
            self.writer, SpoolFolder(self.spool), lambda: self.snapshot, self.executor
        )
        add_ArchiveServiceServicer_to_server(archive, server)
        sources = SourceService(self.writer, lambda: self.sources)
        add_SourceServiceServicer_to_server(sources, server)
        defaults = CompactionDefaults.of(Settings())
        compaction = CompactionService(self.writer, defaults, self.past_compactions)
        add_CompactionServiceServicer_to_server(compaction, server)
        add_AdminServiceServicer_to_server(
            AdminService(self, self.writer, Path("/nowhere.toml")), server
        )


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    rooms = Rooms(tmp_path)
    yield rooms
    rooms.executor.shutdown()


@pytest.fixture
async def channel(rooms: Rooms) -> AsyncIterator[aio.Channel]:
    interceptor = CallInterceptor(Gate(calls=8, queued=8, bulk=4), RecentErrors())
    async with served(rooms.register, interceptors=[interceptor]) as channel:
        yield channel
