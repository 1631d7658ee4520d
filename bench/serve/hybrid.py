"""`python -m bench.serve.hybrid`: searches by words and by meaning, over a daemon's socket.

The vectors are made up, and questions are embedded by a small server that speaks Ollama's API: so
what is measured is the daemon. With ``--vectors`` the passages get more than one vector each, which
shows how long a daemon takes to its first answers with so many.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import tempfile
import time
import zlib
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

import numpy as np

from bench.serve.__main__ import corpus
from bench.serve.client import run_apart
from bench.serve.daemon import Daemon, channel, default_command, running
from bench.serve.measure import import_all, spread
from bench.vectors.data import Texts
from tests.support_http.ollama_api import OllamaServer
from tests.support_http.server import Reply
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import search_service_pb2_grpc as search_grpc
from twolaned.model.embedding import VectorSpace
from twolaned.store import Store
from twolaned.writer.committer import Committer
from twolaned.writer.vectors import VectorFiles

MODEL, SIZE = "bench", 512
SPACE = VectorSpace("ollama", MODEL, SIZE)
STEP = 50_000


class _Server(OllamaServer):
    """Has vectors that lie among those of the passages, as a question's do."""

    def __init__(self, models: dict[str, int], vector: Callable[[str], list[float]]) -> None:
        super().__init__(models)
        self._vector = vector

    def _embed(self, body: dict[str, object], size: int) -> Reply:  # noqa: ARG002
        texts = cast("list[str]", body["input"])
        vectors = [self._vector(text) for text in texts]
        return Reply.of({"model": body["model"], "embeddings": vectors})


def serve_model(said: Connection) -> None:
    """Answer as Ollama does until the process is ended."""

    texts = Texts(SIZE)

    def vector(text: str) -> list[float]:
        drawn: list[float] = texts.draw(1, seed=zlib.crc32(text.encode()))[0].tolist()
        return drawn

    async def serve() -> None:
        async with _Server({MODEL: SIZE}, vector) as server:
            said.send(server.url)
            await asyncio.Event().wait()

    asyncio.run(serve())


def give_vectors(data: Path, least: int) -> int:
    """Give every passage of the store in *data* a vector, and again until there are *least*."""
    store = Store.open(data, write=True)
    with store.view() as view:
        heads = [row for number in view.numbers() if (row := view.row(number)) is not None]
    rows = np.concatenate([np.full(len(row.passages), row.number, np.uint32) for row in heads])
    passages = np.concatenate([np.arange(len(row.passages), dtype=np.uint32) for row in heads])
    times = max(1, -(-least // len(rows)))
    rows, passages = np.tile(rows, times), np.tile(passages, times)
    files, texts = VectorFiles(Committer(store, lambda _: None)), Texts(SIZE)
    for start in range(0, len(rows), STEP):
        part = slice(start, start + STEP)
        vectors = texts.draw(len(rows[part]), seed=start)
        files.append(SPACE, rows[part], passages[part], vectors)
    files.say(str(SPACE), complete=True)
    files.close()
    store.close()
    return len(rows)


async def until_hybrid(daemon: Daemon, started: float) -> float:
    """Seconds since *started* when a search is answered by meaning too."""
    async with channel(daemon.socket) as wire:
        stub = search_grpc.SearchServiceStub(wire)
        while True:
            call = stub.Search(search.SearchRequest(query="ready"))
            receipt = [answer.receipt async for answer in call][-1]
            if not receipt.degraded:
                return time.perf_counter() - started
            await asyncio.sleep(0.01)


def embedding_ms(url: str, count: int = 50) -> list[float]:
    """How long the model's server takes for a question, over a connection that is kept."""
    wire = http.client.HTTPConnection(url.removeprefix("http://"))
    took = []
    for number in range(count):
        body = json.dumps({"model": MODEL, "input": [f"how long does question {number} take"]})
        began = time.perf_counter()
        wire.request("POST", "/api/embed", body)
        wire.getresponse().read()
        took.append((time.perf_counter() - began) * 1e3)
    return took


async def measure(folder: Path, given: argparse.Namespace, url: str) -> None:
    """Print the figures."""
    source = corpus(given.conversations, 7)
    inputs = json.loads((source / "corpus.json").read_text(encoding="utf-8"))["inputs"]
    questions = json.loads((source / "queries.json").read_text(encoding="utf-8"))
    async with running(folder, default_command()) as daemon:
        await import_all(daemon, source, inputs)
    count = give_vectors(folder / "data", given.vectors)
    lines = (
        '[embedding]\nprovider = "ollama"',
        f'model = "{MODEL}"\noutput_dimension = {SIZE}\nbase_url = "{url}"',
    )
    (folder / "config.toml").write_text("\n".join(lines), "utf-8")
    started = time.perf_counter()
    async with running(folder, default_command()) as daemon:
        hybrid = await until_hybrid(daemon, started)
        print(f"{count:,} vectors; start to first answer {daemon.first_answer:.2f} s,")
        print(f"to the first one by meaning too {hybrid:.2f} s\n")
        print("| ms | p50 | p95 | p99 |\n| --- | --- | --- | --- |")
        settings = {"questions": questions, "rounds": 1}
        new = [{**q, "query": f"{q['query']} {i}x"} for i, q in enumerate(questions)]
        _row("first message, question never asked", await run_apart(
            daemon.socket, "first", {**settings, "questions": new}))  # fmt: skip
        await run_apart(daemon.socket, "latency", settings)
        _row("cached question", await run_apart(
            daemon.socket, "latency", {**settings, "rounds": 5}))  # fmt: skip
        _row("the same, first message", await run_apart(daemon.socket, "first", settings))
        newer = [{**q, "query": f"{q['query']} {i}y"} for i, q in enumerate(questions)]
        _row("new question", await run_apart(
            daemon.socket, "once", {**settings, "questions": newer}))  # fmt: skip
        took = spread(embedding_ms(url))
        print(f"| embedding alone | {took['p50']:.2f} | {took['p95']:.2f} | {took['p99']:.2f} |")


def _row(name: str, samples: list[tuple[str, float, float]]) -> None:
    found = spread(ms for *_, ms in samples)
    print(f"| {name} | {found['p50']:.2f} | {found['p95']:.2f} | {found['p99']:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.serve.hybrid", description=__doc__)
    parser.add_argument("--conversations", type=int, default=7_000)
    parser.add_argument("--vectors", type=int, default=0, help="at the least")
    given = parser.parse_args()
    mine, theirs = multiprocessing.Pipe()
    model = multiprocessing.Process(target=serve_model, args=(theirs,), daemon=True)
    model.start()
    with tempfile.TemporaryDirectory(prefix="tl") as folder:
        asyncio.run(measure(Path(folder), given, mine.recv()))
    model.terminate()


if __name__ == "__main__":
    main()
