"""One daemon a data folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from tests.support.sockets import serving
from twolaned.model.errors import StoreLocked
from twolaned.server import holder
from twolaned.server.holder import Holder, read_holder, serving_holder, take_lock


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    lock = take_lock(tmp_path, "1.2", "unix:/nowhere")
    yield tmp_path
    lock.release()


def test_the_lock_says_who_holds_it(held: Path) -> None:
    """Process, version and address stand in the file."""
    assert Holder(str(os.getpid()), "1.2", "unix:/nowhere") == read_holder(held)


def test_a_second_lock_is_refused(held: Path) -> None:
    """Whatever its version."""
    with pytest.raises(StoreLocked):
        take_lock(held, "1.3", "unix:/elsewhere")

    assert "1.2" == read_holder(held).version


def test_a_lock_that_was_given_back_can_be_taken(tmp_path: Path) -> None:
    """Its file stays, and tells of the new holder."""
    take_lock(tmp_path, "1.2", "unix:/a-longer-name").release()
    lock = take_lock(tmp_path, "1.3", "unix:/b")

    assert Holder(str(os.getpid()), "1.3", "unix:/b") == read_holder(tmp_path)
    lock.release()


async def test_a_holder_that_serves_is_found(tmp_path: Path) -> None:
    """Its health answers on the address that it wrote down."""

    def register(server: object) -> None:
        health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)

    async with serving(register) as socket:
        lock = take_lock(tmp_path, "1.2", f"unix:{socket}")
        found = await serving_holder(tmp_path)
        lock.release()

    assert f"unix:{socket}" == found.endpoint


async def test_a_holder_that_does_not_serve_is_named(
    held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some patience, since it may be starting."""
    monkeypatch.setattr(holder, "PATIENCE", 0.2)

    with pytest.raises(StoreLocked, match=rf"process {os.getpid()}, on unix:/nowhere"):
        await serving_holder(held)
