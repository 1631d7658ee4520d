"""The gRPC server: services, health, reflection and limits, put together in one place."""

from __future__ import annotations

from grpc import aio
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from twolane.v1 import (
    admin_service_pb2_grpc,
    archive_service_pb2_grpc,
    compaction_service_pb2_grpc,
    context_service_pb2_grpc,
    feedback_service_pb2_grpc,
    search_service_pb2_grpc,
    source_service_pb2_grpc,
)
from twolaned.context.builder import PackBuilder
from twolaned.model.errors import ConfigError
from twolaned.search.engine import SearchEngine
from twolaned.server.daemon import RunningDaemon
from twolaned.server.names import READING, WRITING
from twolaned.server.spool import SpoolFolder
from twolaned.services.admin_service import AdminService
from twolaned.services.archive_service import ArchiveService
from twolaned.services.compaction_service import (
    CompactionDefaults,
    CompactionService,
    past_compactions,
)
from twolaned.services.context_service import ContextService
from twolaned.services.feedback_service import FeedbackService
from twolaned.services.packs import Packs
from twolaned.services.search_service import SearchService
from twolaned.services.source_service import SourceService
from twolaned.store.layout import spool_path

MAX_RECEIVE = 16 << 20
"""Bytes of a message that is taken in; gRPC itself answers RESOURCE_EXHAUSTED above."""
MAX_STREAMS = 1_024
"""Calls of one connection at a time; gRPC lets further ones wait at the client."""
GREETING = 10_000
"""Milliseconds in which whoever connects must begin to speak HTTP/2."""
PING_EVERY = 60_000
PING_ANSWER = 20_000
"""Milliseconds: a client with calls under way that does not answer a ping is gone."""
LEAST_PING_INTERVAL = 10_000
"""Milliseconds between two pings that a client may send."""


def server_options() -> tuple[tuple[str, int], ...]:
    """What gRPC itself is told to refuse and to end."""
    return (
        ("grpc.max_receive_message_length", MAX_RECEIVE),
        ("grpc.max_send_message_length", MAX_RECEIVE),
        ("grpc.max_concurrent_streams", MAX_STREAMS),
        ("grpc.server_handshake_timeout_ms", GREETING),
        ("grpc.keepalive_time_ms", PING_EVERY),
        ("grpc.keepalive_timeout_ms", PING_ANSWER),
        ("grpc.http2.min_ping_interval_without_data_ms", LEAST_PING_INTERVAL),
        # A second server must fail to bind, not share the port.
        ("grpc.so_reuseport", 0),
    )


def build_server(daemon: RunningDaemon, interceptor: aio.ServerInterceptor) -> aio.Server:
    """A server of all that *daemon* can do, neither bound nor started."""
    server = aio.server(interceptors=(interceptor,), options=server_options())
    writer, live = daemon.writer, daemon.live
    search_service_pb2_grpc.add_SearchServiceServicer_to_server(
        SearchService(daemon.searches, writer), server
    )
    context_service_pb2_grpc.add_ContextServiceServicer_to_server(
        ContextService(_packs(daemon)), server
    )
    archive_service_pb2_grpc.add_ArchiveServiceServicer_to_server(
        ArchiveService(
            writer,
            SpoolFolder(spool_path(daemon.options.data)),
            lambda: live.snapshot,
            daemon.reading,
        ),
        server,
    )
    source_service_pb2_grpc.add_SourceServiceServicer_to_server(
        SourceService(writer, lambda: live.snapshot.sources), server
    )
    compaction_service_pb2_grpc.add_CompactionServiceServicer_to_server(
        CompactionService(
            writer,
            CompactionDefaults.of(daemon.settings),
            lambda: daemon.searches.run(past_compactions, daemon.store),
        ),
        server,
    )
    admin_service_pb2_grpc.add_AdminServiceServicer_to_server(
        AdminService(daemon, writer, daemon.options.config), server
    )
    feedback_service_pb2_grpc.add_FeedbackServiceServicer_to_server(
        FeedbackService(writer, daemon.searches, daemon.store), server
    )
    health_pb2_grpc.add_HealthServicer_to_server(daemon.monitor.servicer, server)
    names = (*READING, *WRITING, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    return server


def _packs(daemon: RunningDaemon) -> Packs:
    settings = daemon.settings
    engine = SearchEngine(settings.ranking, blend_weight=settings.embedding.blend_weight)
    live = daemon.live
    return Packs(PackBuilder(engine), lambda: live.snapshot, daemon.searches, daemon.questions)


def bind(server: aio.Server, address: str) -> None:
    """Listen on *address* as well. Raises ConfigError if somebody else does."""
    try:
        server.add_insecure_port(address)
    except RuntimeError as e:
        raise ConfigError(
            f"The daemon cannot listen on {address}; another program may do so. Choose another"
            " address.",
            address=address,
        ) from e
