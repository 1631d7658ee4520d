"""Embedding in the background: what gets a vector, in which space, and what survives a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.support_http.ollama_api import OllamaServer
from tests.writer import embedding_world
from tests.writer.embedding_world import (
    SIZE,
    SPACE,
    World,
    draft,
    expected_vectors,
    plan,
    served,
)
from twolaned.lanes.meaning import MeaningIndex, VectorIndex
from twolaned.model.errors import DiskFull
from twolaned.search.live import LiveIndex
from twolaned.store import Store
from twolaned.store.vector_file import VectorMap
from twolaned.writer import embed_job, vectors

ROUNDS = 40


@pytest.fixture
def ollama() -> Iterator[OllamaServer]:
    with served(OllamaServer({"all-minilm": SIZE, "bge-m3": SIZE})) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, ollama: OllamaServer) -> Iterator[World]:
    made = World(tmp_path, plan(ollama.url))
    yield made
    made.close()


def sent(server: OllamaServer) -> list[str]:
    return [text for request in server.embeds for text in request.json["input"]]


def space_of(index: MeaningIndex, name: str = SPACE) -> VectorIndex:
    found = index.space(name)
    assert found is not None
    return found


def assert_whole(store: Store, *, complete: bool) -> int:
    """Every live row is found by its own vectors, no dead one by any. Returns what is found."""
    live = LiveIndex(store)
    index = live.snapshot.meaning
    found = 0
    with store.view() as view:
        numbers = view.numbers()
        for number in numbers:
            wanted = expected_vectors(view, number)
            rows = np.array([number], np.uint32)
            for place, vector in enumerate(wanted):
                best, places = index.cosines({SPACE: vector}, rows)
                if not complete and places[0] < 0:
                    continue
                if complete or place == 0:
                    assert best[0] == pytest.approx(1.0, abs=1e-5)
                found += 1
        assert set(space_rows(index)) <= set(numbers)
    return found


def space_rows(index: MeaningIndex) -> list[int]:
    if not index.spaces:
        return []
    return np.flatnonzero(index.spaces[0].rows_with_vectors()).tolist()


def test_every_passage_gets_its_vector(world: World, ollama: OllamaServer) -> None:
    """Rows that are there, and rows that come later, each text sent once."""
    world.put(*(draft(f"note-{i}", i % 7) for i in range(40)))
    world.settle()
    world.put(draft("late", 100))
    world.settle()

    total = sum(i % 7 for i in range(40)) + 100
    (info,) = world.committer.manifest.vectors
    assert (SPACE, total, True) == (info.space, info.count, info.complete)
    assert total == assert_whole(world.store, complete=True)
    assert total == len(sent(ollama)) == len(set(sent(ollama)))


def test_a_row_that_grows_keeps_what_it_has(world: World, ollama: OllamaServer) -> None:
    """Passages that did not change are not sent again; the old version's vectors go."""
    world.put(draft("note", 5))
    world.settle()
    world.put(draft("note", 8))
    world.settle()

    assert 8 == len(sent(ollama))
    assert 8 == assert_whole(world.store, complete=True)
    assert 8 == LiveIndex(world.store).snapshot.meaning.count


def test_many_vectors_are_read_in_steps(world: World) -> None:
    """None is found until all are; what dies in the meantime is not found then."""
    for number in range(12):
        world.put(draft(f"note-{number}", 3))
        world.settle()
    live = LiveIndex(world.store, vector_step=7)
    seen = [live.snapshot.meaning]
    world.put(remove=("note-0", "note-11"))
    while live.behind:
        live.refresh()
        seen.append(live.snapshot.meaning)

    assert len(seen) > 3
    assert {(True, 0)} == {(index.loading, index.count) for index in seen[:-1]}
    assert (False, 30) == (seen[-1].loading, seen[-1].count)
    fresh = LiveIndex(world.store).snapshot.meaning
    asked = {SPACE: np.random.default_rng(1).standard_normal(SIZE)}
    assert fresh.search(asked, 50).rows.tolist() == seen[-1].search(asked, 50).rows.tolist()


def test_a_reader_follows_by_what_was_added_and_what_died(world: World) -> None:
    """Commit by commit it comes to the index that one who opens the store now gets."""
    live = LiveIndex(world.store)
    random = Random(5)
    for step in range(30):
        name = f"note-{random.randrange(12)}"
        gone = f"note-{random.randrange(12)}"
        world.put(draft(name, random.randint(0, 5), word=f"s{step}"))
        if step % 3 == 0 and gone != name:
            world.put(remove=(gone,))
        if step % 2:
            world.settle()
        live.refresh()
    world.settle()
    live.refresh()

    fresh = LiveIndex(world.store).snapshot.meaning
    followed = live.snapshot.meaning
    assert fresh.count == followed.count > 0
    asked = {SPACE: np.random.default_rng(1).standard_normal(SIZE)}
    one, other = fresh.search(asked, 50), followed.search(asked, 50)
    assert one.rows.tolist() == other.rows.tolist()
    assert one.passages.tolist() == other.passages.tolist()


def test_it_goes_on_where_it_was(tmp_path: Path, ollama: OllamaServer) -> None:
    """Closed in the middle, the next writer embeds what is left and nothing twice."""
    first = World(tmp_path, plan(ollama.url))
    first.put(*(draft(f"note-{i}", 10) for i in range(30)))
    first.settle(lambda: bool(first.committer.manifest.vectors))
    first.close()
    second = World(tmp_path, plan(ollama.url))
    assert second.committer.manifest.vectors[0].count < 300
    second.settle()

    assert 300 == assert_whole(second.store, complete=True)
    assert 300 == len(set(sent(ollama)))
    assert len(sent(ollama)) <= 300 + 64  # what was in the air when the first one ended
    second.close()


def test_another_model_is_built_beside_and_then_takes_over(
    tmp_path: Path, ollama: OllamaServer
) -> None:
    """Until the new space is complete the old one answers for every row; then its file goes."""
    first = World(tmp_path, plan(ollama.url))
    first.put(*(draft(f"note-{i}", 5) for i in range(40)))
    first.settle()
    first.close()
    (old,) = first.committer.manifest.vectors
    second = World(tmp_path, plan(ollama.url, "bge-m3"))
    second.settle(lambda: len(second.committer.manifest.vectors) == 2)

    index = LiveIndex(second.store).snapshot.meaning
    rows = np.array(space_rows(index), np.uint32)
    asked = {space.space: np.ones(SIZE) for space in index.spaces}
    assert (2, 40) == (len(index.spaces), len(rows))
    assert {0} == set(index.cosines(asked, rows)[1].tolist())
    assert SPACE == index.spaces[0].space
    assert 40 == len(set(index.search(asked, 100).rows.tolist()))

    second.settle()
    (new,) = second.committer.manifest.vectors
    assert (f"ollama/bge-m3/{SIZE}", 200, True) == (new.space, new.count, new.complete)
    assert not second.store.vector_path(old.file).exists()
    second.close()


def test_a_provider_that_fails_costs_nothing_but_time(
    world: World, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is tried again later, and nothing is marked as done."""
    monkeypatch.setattr(embed_job, "FIRST_RETRY", 0.01)
    ollama.models = {}
    world.put(draft("note", 3))
    world.settle(lambda: len(ollama.requests) >= 2)
    assert () == world.committer.manifest.vectors
    ollama.models = {"all-minilm": SIZE}
    world.settle(lambda: bool(world.committer.manifest.vectors))

    assert 3 == assert_whole(world.store, complete=True)


def test_a_full_disk_loses_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that fails leaves the count; the vectors are made again out of the cache."""
    world.put(draft("one", 3))
    world.settle()
    world.put(draft("two", 4))
    real = world.committer.publish
    monkeypatch.setattr(embed_job, "FIRST_RETRY", 0.0)

    def full(_: object) -> int:
        monkeypatch.setattr(world.committer, "publish", real)
        raise DiskFull("The disk is full.")

    monkeypatch.setattr(world.committer, "publish", full)
    with pytest.raises(DiskFull):
        world.settle()
    world.settle()

    assert 7 == assert_whole(world.store, complete=True)
    assert 7 == world.committer.manifest.vectors[0].count


def test_dead_vectors_are_cleared_away(
    world: World, monkeypatch: pytest.MonkeyPatch, ollama: OllamaServer
) -> None:
    """A file that is mostly dead is written anew; a reader of either file has the same rows."""
    monkeypatch.setattr(embed_job, "REWRITE_LEAST", 10)
    monkeypatch.setattr(vectors, "LONG_RUN", 7)
    world.put(*(draft(f"note-{i}", 5) for i in range(40)))
    world.settle()
    live = LiveIndex(world.store)
    before = world.committer.manifest.vectors[0]
    world.put(remove=tuple(f"note-{i}" for i in range(0, 40, 2)))
    world.settle()
    live.refresh()

    after = world.committer.manifest.vectors[0]
    assert (100, True) == (after.count, after.file != before.file)
    assert not world.store.vector_path(before.file).exists()
    assert 100 == assert_whole(world.store, complete=True) == live.snapshot.meaning.count
    world.put(draft("new", 4))
    world.settle()
    assert 104 == assert_whole(world.store, complete=True)
    assert 204 == len(sent(ollama))


def test_a_purge_leaves_no_vector_of_what_was_deleted(world: World, tmp_path: Path) -> None:
    """Neither in the space's file nor in the cache, whose pages are written over."""
    world.put(draft("gone", 40), draft("kept", 3))
    world.settle()
    with world.store.view() as view:
        number = view.number("gone")
        assert number is not None
        secrets = [v.astype("<f4").tobytes() for v in expected_vectors(view, number)]
    cached = tmp_path / "store" / "vector-cache" / "data.mdb"
    assert any(secret in cached.read_bytes() for secret in secrets)
    world.put(remove=("gone",))
    done = world.job.request_purge()
    world.settle(done.done)

    assert done.exception() is None
    files = [cached, *(tmp_path / "store" / "vectors").iterdir()]
    assert 2 == len(files)
    for file in files:
        data = file.read_bytes()
        assert not any(secret in data for secret in secrets)
    assert 3 == assert_whole(world.store, complete=True)


def test_local_texts_go_to_the_local_model_alone(tmp_path: Path) -> None:
    """With a provider elsewhere, only that of local texts sees them: in another space."""
    with served(OllamaServer({"nomic-embed-text": 768})) as local:
        made = World(
            tmp_path,
            embed_job.EmbeddingPlan(provider="auto", ollama_host=local.url),
        )
        made.put(draft("mine", 3, local=True), draft("other", 2))
        made.settle()
        texts = sent(local)
        (info,) = made.committer.manifest.vectors
        made.close()

    assert 3 == len(texts)
    assert all("mine" in text for text in texts)
    assert ("ollama/nomic-embed-text/768", 3) == (info.space, info.count)


def run_and_kill(data: Path, url: str, random: Random) -> tuple[int, int]:
    """Start the world, kill it at a random moment, return the last count and generation told.

    The moment counts from one of the first things told, so that a busy machine kills no sooner.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", embedding_world.__name__, str(data), url],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    killer = threading.Timer(random.uniform(0.0, 0.04), process.kill)
    awaited, told = random.randrange(5), (0, 0)
    if not awaited:
        killer.start()
    for heard, line in enumerate(process.stdout, 1):
        if line.endswith("\n"):
            count, generation = line.split()
            told = int(count), int(generation)
        if heard == awaited:
            killer.start()
    killer.join()
    assert -signal.SIGKILL == process.wait()
    process.stdout.close()
    return told


@pytest.mark.slow
def test_a_kill_loses_no_vector_and_mixes_none_up(tmp_path: Path, ollama: OllamaServer) -> None:
    """Forty kills while rows come, grow and go: every vector belongs to the row that it is of."""
    random, checked = Random(2), 0
    for _ in range(ROUNDS):
        count, generation = run_and_kill(tmp_path, ollama.url, random)
        store = Store.open(tmp_path)
        with store.view() as view:
            manifest = view.manifest
            assert manifest.generation >= generation
            assert sum(info.count for info in manifest.vectors) >= count
            for info in manifest.vectors:
                mapped = VectorMap(store.vector_path(info.file), space=SPACE, dimensions=SIZE)
                held = mapped.rows(info.count)
                assert [] == mapped.damaged(info.count)
                rows, passages = vectors.rows_of(store, info)
                assert info.count == len(rows)
                for number in np.unique(rows).tolist():
                    if view.row(number) is None:
                        continue
                    wanted = expected_vectors(view, number)
                    for at in np.flatnonzero(rows == number):
                        np.testing.assert_allclose(held[at], wanted[passages[at]], atol=1e-6)
                        checked += 1
                del held
                mapped.close()
        assert_whole(store, complete=False)
        store.close()
    last = World(tmp_path, plan(ollama.url))
    last.settle()
    assert_whole(last.store, complete=True)
    last.close()
    assert checked > 1_000
