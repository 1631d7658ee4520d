"""The life of the daemon, from its arguments to its exit status."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

from twolaned.config import Settings, load_settings, settings_json
from twolaned.model.errors import ConfigError, StoreLocked, TwolaneError
from twolaned.search.engine import SearchEngine
from twolaned.search.live import LiveIndex
from twolaned.server import process
from twolaned.server.arguments import Options, parse
from twolaned.server.background import Background
from twolaned.server.build import bind, build_server
from twolaned.server.configured_sources import add_configured
from twolaned.server.daemon import RunningDaemon
from twolaned.server.folders import (
    address_of,
    clear_socket,
    close_off,
    private_folder,
    remove_socket,
)
from twolaned.server.health import HealthMonitor
from twolaned.server.holder import serving_holder, take_lock
from twolaned.server.index_follower import IndexFollower
from twolaned.server.interceptors import CallInterceptor, gate_of
from twolaned.server.logs import set_up_logging
from twolaned.server.loop import run_loop
from twolaned.server.notify import feed_watchdog, notify, watchdog_interval
from twolaned.server.questions import questions_of, recall_checker
from twolaned.server.recent_errors import RecentErrors
from twolaned.server.restoring import restore_and_tell
from twolaned.server.stop import Stop
from twolaned.server.tcp import read_token, tcp_address, token_path
from twolaned.server.writer_process import WriterProcess, writer_command
from twolaned.services.searches import Searches
from twolaned.store import Store

log = logging.getLogger(__name__)

OK = 0
UNAVAILABLE = 69
"""As in sysexits.h: the folder is in use, or the store cannot be used."""
BAD_CONFIG = 78
"""As in sysexits.h: trying again without a change is of no use."""

SEARCH_THREADS = 2
READING_THREADS = 1
"""For exports and whatever else reads for long, so that no search waits for it."""
CUT_OFF = 0.2
"""Seconds in which the last answers, or cancellations, reach their clients."""
WRITER_GRACE = 10.0
"""Seconds that the writer has to end what it has in hand."""


def run(arguments: Sequence[str] | None) -> int:
    """Run the daemon until it is stopped. Returns the exit status."""
    options = parse(arguments, os.environ)
    if options.restore is not None:
        os.umask(0o077)
        return restore_and_tell(options.restore, options.data)
    try:
        settings = load_settings(options.config, must_exist=options.config_given)
        if options.print_config:
            sys.stdout.write(f"{settings_json(settings)}\n")
            return OK
        os.umask(0o077)
        private_folder(options.data, "The data folder")
        private_folder(options.socket.parent, "The socket's folder")
        return run_loop(_hold_and_serve(options, settings))
    except ConfigError as e:
        sys.stderr.write(f"twolaned: {e.message}\n")
        return BAD_CONFIG
    except TwolaneError as e:
        sys.stderr.write(f"twolaned: {e.message}\n")
        return UNAVAILABLE


async def _hold_and_serve(options: Options, settings: Settings) -> int:
    endpoint = address_of(options.socket)
    try:
        lock = take_lock(options.data, process.version(), endpoint)
    except StoreLocked:
        holder = await serving_holder(options.data)
        # Success, so that a supervisor does not start a second one again and again.
        sys.stderr.write(f"twolaned: {options.data} is served already, by {holder}.\n")
        return OK
    try:
        return await _serve(options, settings, endpoint)
    finally:
        lock.release()


async def _serve(options: Options, settings: Settings, endpoint: str) -> int:
    """Start everything in order, wait, and stop it in reverse. The caller holds the lock."""
    set_up_logging(options.log_level, options.log_file)
    stop, errors = Stop(), RecentErrors()
    _listen_to_signals(stop)
    async with AsyncExitStack() as stack:
        store = Store.open(options.data)
        stack.callback(store.close)
        follower = IndexFollower(errors)
        stack.callback(follower.close)
        keepers = await stack.enter_async_context(Background(stop))

        writer = WriterProcess(writer_command(options.data, options.config), follower, errors)
        keepers.start(writer.run(), "the writer's keeper")
        stack.push_async_callback(writer.stop, WRITER_GRACE)
        live = await asyncio.to_thread(LiveIndex, store)  # while the writer comes up
        keepers.start(follower.run(live), "the index follower")

        threads = ThreadPoolExecutor(SEARCH_THREADS, "search")
        stack.callback(threads.shutdown, cancel_futures=True)
        reading = ThreadPoolExecutor(READING_THREADS, "reading")
        stack.callback(reading.shutdown, cancel_futures=True)
        questions, recall = questions_of(settings.embedding, options.data, stack), None
        if questions is not None:
            stack.push_async_callback(questions.aclose)
            keepers.start(questions.warm(), "loading the embedding provider")
            recall = recall_checker(questions, live, reading)
            keepers.start(recall.run(), "checking the recall")
        engine = SearchEngine(settings.ranking, blend_weight=settings.embedding.blend_weight)
        searches = Searches(engine, live, threads, questions)
        stack.push_async_callback(searches.aclose)
        monitor = HealthMonitor(searches, live, errors, lambda: writer.state == "running")
        writer.on_change(monitor.look_again)
        daemon = RunningDaemon(
            options=options,
            settings=settings,
            endpoint=endpoint,
            store=store,
            live=live,
            searches=searches,
            reading=reading,
            questions=questions,
            recall=recall,
            follower=follower,
            writer=writer,
            monitor=monitor,
            errors=errors,
            stop=stop,
        )
        tcp = tcp_address(settings.server.tcp) if settings.server.tcp else None
        token = read_token(token_path(settings.server.token_file, options.data)) if tcp else None
        limits = settings.limits
        interceptor = CallInterceptor(
            gate_of(limits), errors, token, patience=limits.patience_seconds
        )
        server = build_server(daemon, interceptor)

        clear_socket(options.socket)
        bind(server, endpoint)
        stack.callback(remove_socket, options.socket, close_off(options.socket))
        if tcp is not None:
            bind(server, tcp)
        await server.start()
        stack.push_async_callback(server.stop, CUT_OFF)
        stack.push_async_callback(lambda: interceptor.drain(stop.grace))
        stack.push_async_callback(monitor.close)

        await monitor.check()
        daemon.start_up = process.age()
        watchers = await stack.enter_async_context(Background(stop))
        watchers.start(monitor.run(), "the health monitor")
        watchers.start(
            add_configured(settings.sources, lambda: live.snapshot.sources, writer, errors),
            "adding configured sources",
        )
        if (interval := watchdog_interval()) is not None:
            watchers.start(feed_watchdog(interval), "the watchdog")
        # What is here now stays: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        notify("READY=1")
        log.info("twolane %s serves %s on %s", process.version(), options.data, endpoint)

        await stop.wait()
        notify("STOPPING=1")
    log.info("stopped")
    return OK if stop.error is None else UNAVAILABLE


def _listen_to_signals(stop: Stop) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Whoever started this with a signal ignored, such as nohup, meant it.
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop.ask, number.name)
