from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.fake import FakeDaemon
from twolane.client import Client


@pytest.fixture
def short() -> Iterator[Path]:
    """A private folder whose path leaves room for a socket's name."""
    folder = Path(tempfile.mkdtemp(prefix="tl"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def daemon(short: Path) -> Iterator[FakeDaemon]:
    """A daemon that answers as the test tells it."""
    fake = FakeDaemon(short / "t.sock")
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def client(daemon: FakeDaemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as connected:
        yield connected
