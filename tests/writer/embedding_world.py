"""A store whose rows are embedded by a server that speaks Ollama's API.

Run as a program it does so until it is killed: rows come, grow and go, and each publication is
told on standard output.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from tests.support_http.ollama_api import OllamaServer
from tests.support_http.vectors import unit_vector
from twolaned.embedding import EmbeddingPlan, LoopThread
from twolaned.ingest.drafts import EXTRACTION
from twolaned.ingest.searchable import text_to_embed
from twolaned.model.row import Passage, RowDraft, RowKind
from twolaned.model.source import Extraction
from twolaned.store import Store, View
from twolaned.store.layout import vector_cache_path
from twolaned.store.vector_cache import VectorCacheFile
from twolaned.writer.batch import Batch
from twolaned.writer.committer import Committer
from twolaned.writer.embed_job import EmbedJob
from twolaned.writer.maintenance import seal_segment

SIZE = 24
MODEL = "all-minilm"
SPACE = f"ollama/{MODEL}/{SIZE}"
PATIENCE = 20.0


def plan(url: str, model: str = MODEL) -> EmbeddingPlan:
    """Everything to the server at *url*."""
    return EmbeddingPlan(provider="ollama", base_url=url, model=model, output_dimension=SIZE)


@contextmanager
def served(server: OllamaServer) -> Iterator[OllamaServer]:
    """Run *server* on an event loop of its own."""
    loop = LoopThread("server")
    loop.submit(server.__aenter__()).result()
    try:
        yield server
    finally:
        loop.submit(server.__aexit__(None, None, None)).result()
        loop.close()


def draft(name: str, passages: int, *, word: str = "", local: bool = False) -> RowDraft:
    """A note of so many passages."""
    parts = [f"{word or name} part {i} of the note" for i in range(passages)]
    places, offset = [], 0
    for part in parts:
        places.append(Passage(offset, len(part)))
        offset += len(part)
    body = "".join(parts)
    digest = hashlib.sha256(body.encode()).digest()
    return RowDraft(
        id=name,
        kind=RowKind.CONVERSATION,
        source="notes",
        title=name,
        body=body,
        passages=tuple(places),
        content_hash=digest,
        text_hash=digest,
        extra={EXTRACTION: str(Extraction.LOCAL)} if local else {},
    )


class World:
    """A writer without its pipes: a committer, and the job that embeds."""

    def __init__(self, data: Path, made: EmbeddingPlan | None) -> None:
        self.store = Store.open(data, write=True)
        self.committer = Committer(self.store, lambda _: None)
        self.executor = ThreadPoolExecutor(1)
        self.cache = VectorCacheFile(vector_cache_path(data))
        self.job = EmbedJob(self.committer, self.executor, made, self.cache, lambda _: None)

    def put(self, *drafts: RowDraft, remove: tuple[str, ...] = ()) -> None:
        """Publish *drafts*, and take rows away, in one commit."""
        seal = partial(seal_segment, self.store)
        batch = Batch(self.committer, seal, self.executor)
        for each in drafts:
            batch.add(each)
        for row_id in remove:
            batch.remove(row_id)
        batch.publish_now()

    def poll(self) -> None:
        """Let the job take a step."""
        self.job.poll(busy=False)

    def settle(self, until: Callable[[], bool] | None = None) -> None:
        """Let the job work until it has nothing to do, or *until* holds."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.poll()
            if until is not None and until():
                return
            idle = self.job.due() is None and not self.job.is_under_way
            if until is None and idle:
                self.poll()
                if self.job.due() is None and not self.job.is_under_way:
                    return
            time.sleep(0.0005)
        raise AssertionError("the job did not come to its end")

    def close(self) -> None:
        """Close everything."""
        self.job.close()
        self.cache.close()
        self.executor.shutdown()
        self.store.close()


def expected_vectors(view: View, number: int) -> list[np.ndarray]:
    """What the server makes of each passage of a row."""
    row = view.row(number)
    assert row is not None
    body = view.body_bytes(number)
    messages = view.messages(number)
    texts = [
        text_to_embed(row.title, row.occurred_at, passage, body, messages)
        for passage in row.passages
    ]
    return [unit_vector(text, SIZE) for text in texts]


def work_until_killed(data: Path, url: str) -> None:
    """Add, grow and remove rows while they are embedded, and tell what is published."""
    world = World(data, plan(url))
    random = Random(time.time_ns())
    told = -1
    while True:
        if random.random() < 0.05:
            name = f"note-{random.randrange(60)}"
            gone = (f"note-{random.randrange(60)}",) if random.random() < 0.3 else ()
            gone = tuple(n for n in gone if n != name)
            world.put(draft(name, random.randint(1, 9), word=f"w{random.random()}"), remove=gone)
        world.poll()
        count = sum(info.count for info in world.committer.manifest.vectors)
        if count != told:
            told = count
            sys.stdout.write(f"{count} {world.committer.generation}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    work_until_killed(Path(sys.argv[1]), sys.argv[2])
