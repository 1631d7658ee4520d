"""A backup beside other work: one at a time, and ended by whoever asked for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from twolaned.ingest.reader import IngestLimits
from twolaned.model.backup import CopyProgress
from twolaned.model.errors import Unavailable
from twolaned.store import Store
from twolaned.writer.backup_job import backup_job
from twolaned.writer.committer import Committer
from twolaned.writer.context import JobContext
from twolaned.writer.maintenance import Maintenance
from twolaned.writer.protocol import BackedUp, Backup
from twolaned.writer.tombstones import Tombstones


@pytest.fixture
def context(tmp_path: Path) -> Iterator[JobContext]:
    store = Store.open(tmp_path / "data", write=True)
    with ThreadPoolExecutor(2) as pool:
        committer = Committer(store, lambda _: None)
        maintenance = Maintenance(committer, pool)
        yield JobContext(committer, pool, IngestLimits(), maintenance, Tombstones(store))
    store.close()


class Gate:
    """Holds up the copying until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def tell(self, _: CopyProgress) -> None:
        self.reached.set()
        self.opened.wait()


def test_a_second_one_is_told_to_come_back(context: JobContext, tmp_path: Path) -> None:
    """Until the first has ended; then it is made."""
    gate = Gate()
    first = backup_job(context, Backup(path=str(tmp_path / "first")), gate.tell)
    copying = next(first)
    assert copying is not None
    gate.reached.wait()
    with pytest.raises(Unavailable) as said:
        next(backup_job(context, Backup(path=str(tmp_path / "second")), gate.tell))
    assert "BACKUP_RUNNING" == said.value.reason
    gate.opened.set()
    copying.result()
    with pytest.raises(StopIteration) as end:
        next(first)
    assert isinstance(end.value.value, BackedUp)
    second = backup_job(context, Backup(path=str(tmp_path / "second")), gate.tell)
    next(second).result()
    assert (tmp_path / "second").is_dir()


def test_closing_the_job_ends_the_copying(context: JobContext, tmp_path: Path) -> None:
    """And nothing of it stays."""
    gate = Gate()
    job = backup_job(context, Backup(path=str(tmp_path / "copy")), gate.tell)
    copying = next(job)
    assert copying is not None
    gate.reached.wait()
    job.close()
    gate.opened.set()
    assert copying.exception() is not None
    assert ["data"] == [entry.name for entry in tmp_path.iterdir()]
