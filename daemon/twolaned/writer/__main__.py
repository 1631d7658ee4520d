"""The writer process. Started by the serving process, with a pipe on each side."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

from twolaned.config import load_settings
from twolaned.embedding.plan import plan_of
from twolaned.ingest.reader import IngestLimits
from twolaned.model.errors import TwolaneError
from twolaned.store import Store
from twolaned.store.layout import vector_cache_path, writer_lock_path
from twolaned.store.lock import FileLock
from twolaned.store.vector_cache import VectorCacheFile
from twolaned.writer.loop import WriterLoop

LOCK_SECONDS = 30.0
"""How long to wait for a writer that a dead server left behind and that is about to end."""
NICENESS = 5


def main() -> int:
    """Run the writer until its input ends. Exit status 1 where the store cannot be used."""
    parser = argparse.ArgumentParser(prog="twolaned.writer")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--config", type=Path)
    arguments = parser.parse_args()
    # The pipe's end is what stops the writer, so that work in hand is finished or left cleanly.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.nice(NICENESS)
    logging.basicConfig(level=logging.INFO, format="writer: %(levelname)s %(message)s")
    requests, events = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Nothing but frames may reach the pipe, whatever a library prints.
    os.dup2(2, 1)
    try:
        arguments.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(writer_lock_path(arguments.data))
        lock.acquire(timeout=LOCK_SECONDS)
        lock.describe(f"writer pid {os.getpid()}")
        store = Store.open(arguments.data, write=True)
        plan = None
        if arguments.config is not None:
            settings = load_settings(arguments.config)
            plan = plan_of(settings.embedding, os.environ, arguments.data)
        with contextlib.ExitStack() as stack:
            cache = None
            if plan is not None or vector_cache_path(arguments.data).exists():
                cache = VectorCacheFile(vector_cache_path(arguments.data))
                stack.callback(cache.close)
            WriterLoop(store, requests, events, IngestLimits(), plan, cache).run()
    except TwolaneError as e:
        sys.stderr.write(f"writer: {e.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
