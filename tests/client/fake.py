"""A daemon without an index: it serves the API on a Unix socket and answers as it is told.

Run as a program it stands in for the real one: ``python tests/client/fake.py``.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from twolane.connection import PROTOCOL, version
from twolane.v1 import (
    admin_service_pb2,
    admin_service_pb2_grpc,
    archive_service_pb2,
    archive_service_pb2_grpc,
    common_pb2,
    compaction_service_pb2,
    compaction_service_pb2_grpc,
    context_service_pb2,
    context_service_pb2_grpc,
    search_service_pb2,
    search_service_pb2_grpc,
    source_service_pb2,
    source_service_pb2_grpc,
)

NAMES = ("Search", "Context", "Archive", "Source", "Compaction", "Admin")
SERVICES = tuple(f"twolane.v1.{name}Service" for name in NAMES)

PAGE = 4096
"""Bytes of a page, where the request does not say."""


@dataclass
class Call:
    """One call as it arrived: its method, request, metadata and the seconds it was given."""

    method: str
    request: Any
    metadata: dict[str, str | bytes]
    seconds: float | None


@dataclass
class Failure:
    """What a call ends with instead of its answer."""

    code: int
    message: str
    reason: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    violations: tuple[tuple[str, str], ...] = ()
    retry_after: float | None = None
    request_id: str = "r-1"
    times: int = 1_000_000

    def end(self, context: grpc.ServicerContext) -> None:
        details = []
        if self.reason:
            details.append(
                error_details_pb2.ErrorInfo(
                    reason=self.reason, domain="twolane.dev", metadata=self.metadata
                )
            )
        if self.violations:
            bad = error_details_pb2.BadRequest()
            for name, why in self.violations:
                bad.field_violations.add(field=name, description=why)
            details.append(bad)
        if self.retry_after is not None:
            retry = error_details_pb2.RetryInfo()
            retry.retry_delay.FromMilliseconds(round(self.retry_after * 1000))
            details.append(retry)
        status = status_pb2.Status(code=self.code, message=self.message)
        for detail in details:
            packed = any_pb2.Any()
            packed.Pack(detail)
            status.details.append(packed)
        context.set_trailing_metadata((("x-request-id", self.request_id),))
        rich = rpc_status.to_status(status)
        trailing = (*rich.trailing_metadata, ("x-request-id", self.request_id))
        context.set_trailing_metadata(trailing)
        context.abort(rich.code, rich.details)


class FakeDaemon(
    search_service_pb2_grpc.SearchServiceServicer,
    context_service_pb2_grpc.ContextServiceServicer,
    archive_service_pb2_grpc.ArchiveServiceServicer,
    source_service_pb2_grpc.SourceServiceServicer,
    compaction_service_pb2_grpc.CompactionServiceServicer,
    admin_service_pb2_grpc.AdminServiceServicer,
):
    """Serves on *socket* from `start` until `stop`. What it answers are its public attributes."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.calls: list[Call] = []
        self.cancelled = threading.Event()
        self.stopped = threading.Event()
        self.failures: dict[str, Failure] = {}
        self.answers: list[search_service_pb2.SearchResponse] = [
            search_service_pb2.SearchResponse(final=True)
        ]
        self.packs: list[context_service_pb2.ContextPackResponse] = [
            context_service_pb2.ContextPackResponse(final=True)
        ]
        self.rows: dict[str, search_service_pb2.OpenEvidenceResponse] = {}
        self.sources: dict[str, source_service_pb2.Source] = {}
        self.imports: list[common_pb2.ImportTotals] = [common_pb2.ImportTotals(rows_new=1)]
        self.compacted = compaction_service_pb2.CompactResponse(done=True)
        self.rolled_back = compaction_service_pb2.RollbackResponse()
        self.compactions: list[compaction_service_pb2.Compaction] = []
        self.received = b""
        self.saved = archive_service_pb2.SaveResponse(id="notes:1")
        self.on_search: Callable[[grpc.ServicerContext], object] | None = None
        self.status = admin_service_pb2.StatusResponse(
            version=version(),
            protocol=PROTOCOL,
            pid=os.getpid(),
            endpoint=f"unix:{socket}",
            data_path=str(socket.parent),
            writer_state="running",
            disk_free_bytes=50 << 30,
        )
        self.status.uptime.FromSeconds(90)
        self.health = health.HealthServicer()
        self.serve(healthy=True)
        self._server = grpc.server(ThreadPoolExecutor(8))
        search_service_pb2_grpc.add_SearchServiceServicer_to_server(self, self._server)
        context_service_pb2_grpc.add_ContextServiceServicer_to_server(self, self._server)
        archive_service_pb2_grpc.add_ArchiveServiceServicer_to_server(self, self._server)
        source_service_pb2_grpc.add_SourceServiceServicer_to_server(self, self._server)
        compaction_service_pb2_grpc.add_CompactionServiceServicer_to_server(self, self._server)
        admin_service_pb2_grpc.add_AdminServiceServicer_to_server(self, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self._server)

    def start(self) -> None:
        self._server.add_insecure_port(f"unix:{self.socket}")
        self._server.start()

    def stop(self) -> None:
        self._server.stop(0).wait()
        self.stopped.set()

    def serve(self, *, healthy: bool) -> None:
        status = health_pb2.HealthCheckResponse
        for service in ("", *SERVICES):
            self.health.set(service, status.SERVING if healthy else status.NOT_SERVING)

    def named(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def last(self, method: str) -> Any:
        """The last request to *method*."""
        return self.named(method)[-1].request

    def _arrived(self, method: str, request: Any, context: grpc.ServicerContext) -> None:
        metadata = dict(context.invocation_metadata())
        self.calls.append(Call(method, request, metadata, context.time_remaining()))
        failure = self.failures.get(method)
        if failure is not None and failure.times > 0:
            failure.times -= 1
            failure.end(context)

    def Search(self, request: Any, context: Any) -> Iterator[Any]:
        self._arrived("Search", request, context)
        context.add_callback(self.cancelled.set)
        if self.on_search is not None:
            self.on_search(context)
        yield from self.answers

    def ContextPack(self, request: Any, context: Any) -> Iterator[Any]:
        self._arrived("ContextPack", request, context)
        yield from self.packs

    def OpenEvidence(self, request: Any, context: Any) -> Any:
        self._arrived("OpenEvidence", request, context)
        row = self.rows.get(request.id)
        if row is None:
            Failure(code_pb2.NOT_FOUND, f"There is no row {request.id}.", "NOT_FOUND").end(context)
            raise AssertionError("the call was aborted")
        stored = row.content.encode()
        page = search_service_pb2.OpenEvidenceResponse()
        page.CopyFrom(row)
        del page.messages[:]
        page.content_bytes = len(stored)
        if request.form == search_service_pb2.EVIDENCE_FORM_MIDDLE:
            page.content = f"{stored[:40].decode()}\n…\n{stored[-40:].decode()}"
            page.omitted_bytes = len(stored) - 80
            return page
        end = request.offset + (request.max_bytes or PAGE)
        page.content = stored[request.offset : end].decode(errors="ignore")
        end = request.offset + len(page.content.encode())
        page.offset = request.offset
        page.next_offset = end if end < len(stored) else 0
        page.messages.extend(m for m in row.messages if request.offset <= m.offset < end)
        return page

    def Save(self, request: Any, context: Any) -> Any:
        self._arrived("Save", request, context)
        return self.saved

    def Import(self, requests: Iterator[Any], context: Any) -> Iterator[Any]:
        first = next(requests).header
        self._arrived("Import", first, context)
        if first.path:
            self._arrived("Import by path", first, context)
        else:
            chunks = [request.chunk for request in requests]
            self._arrived("Import by bytes", [len(chunk) for chunk in chunks], context)
            self.received = b"".join(chunks)
        for totals in self.imports[:-1]:
            yield archive_service_pb2.ImportResponse(totals=totals)
        yield archive_service_pb2.ImportResponse(
            done=True, totals=self.imports[-1], index_generation=7
        )

    def AddSource(self, request: Any, context: Any) -> Any:
        self._arrived("AddSource", request, context)
        source = source_service_pb2.Source()
        source.CopyFrom(request.source)
        source.id = f"s{len(self.sources) + 1}"
        self.sources[source.id] = source
        return source_service_pb2.AddSourceResponse(source=source)

    def RemoveSource(self, request: Any, context: Any) -> Any:
        self._arrived("RemoveSource", request, context)
        return source_service_pb2.RemoveSourceResponse(documents_removed=3)

    def ListSources(self, request: Any, context: Any) -> Any:
        """Pages of one source each."""
        self._arrived("ListSources", request, context)
        ids = sorted(self.sources)
        at = int(request.page_token or 0)
        more = str(at + 1) if at + 1 < len(ids) else ""
        page = [self.sources[name] for name in ids[at : at + 1]]
        return source_service_pb2.ListSourcesResponse(sources=page, next_page_token=more)

    def ScanSources(self, request: Any, context: Any) -> Iterator[Any]:
        self._arrived("ScanSources", request, context)
        yield source_service_pb2.ScanSourcesResponse(source_id="s1")
        yield source_service_pb2.ScanSourcesResponse(done=True, totals=self.imports[-1])

    def Compact(self, request: Any, context: Any) -> Iterator[Any]:
        self._arrived("Compact", request, context)
        yield compaction_service_pb2.CompactResponse(phase_done=1, phase_total=2)
        yield self.compacted

    def Rollback(self, request: Any, context: Any) -> Any:
        self._arrived("Rollback", request, context)
        return self.rolled_back

    def ListCompactions(self, request: Any, context: Any) -> Any:
        """Pages of one compaction each."""
        self._arrived("ListCompactions", request, context)
        at = int(request.page_token or 0)
        more = str(at + 1) if at + 1 < len(self.compactions) else ""
        return compaction_service_pb2.ListCompactionsResponse(
            compactions=self.compactions[at : at + 1], next_page_token=more
        )

    def Backup(self, request: Any, context: Any) -> Iterator[Any]:
        self._arrived("Backup", request, context)
        half = admin_service_pb2.BackupResponse(bytes_done=6_000_000, bytes_total=12_000_000)
        yield half
        made = admin_service_pb2.BackupReport(path=request.path, rows=1_204, bytes=12_000_000)
        yield admin_service_pb2.BackupResponse(done=True, backup=made)

    def Status(self, request: Any, context: Any) -> Any:
        self._arrived("Status", request, context)
        return self.status

    def Shutdown(self, request: Any, context: Any) -> Any:
        self._arrived("Shutdown", request, context)
        self.stopped.set()
        return admin_service_pb2.ShutdownResponse(pid=self.status.pid)


def main() -> None:
    """Serve until told to stop, and count the starts in the file that $FAKE_STARTS names."""
    import signal

    from twolane import paths

    started = time.time()
    if counter := os.environ.get("FAKE_STARTS"):
        with Path(counter).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {started}\n")
    if complaint := os.environ.get("FAKE_COMPLAINT"):
        raise SystemExit(complaint)
    socket = paths.socket_path(os.environ)
    socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    socket.unlink(missing_ok=True)
    daemon = FakeDaemon(socket)
    signal.signal(signal.SIGTERM, lambda *_: daemon.stopped.set())
    daemon.start()
    daemon.stopped.wait()
    daemon._server.stop(1).wait()
    socket.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
