"""Folders that the configuration names."""

from __future__ import annotations

import pytest

from tests.support.fake_ports import FakeWriter
from twolaned.config import SourceSettings
from twolaned.model.errors import AlreadyExists, NotFound, Unavailable
from twolaned.model.source import Extraction, Source, SourceScope, source_id
from twolaned.server.configured_sources import add_configured, source_of
from twolaned.server.recent_errors import RecentErrors
from twolaned.writer.protocol import AddSource, Done, SourceAdded

NOTES = SourceSettings(path="/notes/", exclude=("*.tmp",))
STORED = Source(id=source_id("/notes"), path="/notes", exclude=("*.tmp",))


@pytest.fixture
def writer() -> FakeWriter:
    writer = FakeWriter()
    writer.done = Done(SourceAdded(STORED), 1)
    return writer


def test_a_setting_becomes_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tilde is the person's home, and every setting counts."""
    monkeypatch.setenv("HOME", "/home/ada")
    settings = SourceSettings(
        path="~/acme",
        extraction=Extraction.LOCAL,
        scope=SourceScope.CLIENT,
        client_name="Acme",
    )

    assert source_of(NOTES) == STORED
    assert source_of(settings) == Source(
        id=source_id("/home/ada/acme"),
        path="/home/ada/acme",
        extraction=Extraction.LOCAL,
        scope=SourceScope.CLIENT,
        client_name="Acme",
    )


async def test_only_what_is_not_known_is_added(writer: FakeWriter) -> None:
    """A restart changes nothing."""
    errors = RecentErrors()
    other = SourceSettings(path="/other")

    await add_configured((NOTES, other), lambda: (STORED,), writer, errors)

    assert [AddSource(source_of(other))] == writer.commands
    assert () == errors.newest_first()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(NotFound("There is no folder /notes."), 1, id="missing"),
        pytest.param(AlreadyExists("It is there."), 0, id="there already"),
    ],
)
async def test_what_cannot_be_added_does_not_stop_the_daemon(
    writer: FakeWriter, error: NotFound | AlreadyExists, told: int
) -> None:
    """A folder on a disk that is not mounted is reported, and the others are added."""
    errors = RecentErrors()
    writer.error = error

    await add_configured((NOTES, SourceSettings(path="/other")), tuple, writer, errors)

    assert 2 == len(writer.commands)
    assert 2 * told == len(errors.newest_first())


async def test_a_writer_that_is_not_up_yet_is_waited_for() -> None:
    """It is asked again when it said it would be back."""

    class Slow(FakeWriter):
        async def call(self, command: AddSource) -> Done:  # type: ignore[override]
            self.commands.append(command)
            if len(self.commands) < 3:
                raise Unavailable("Wait.", retry_after=0)
            return Done(SourceAdded(command.source), 1)

    writer, errors = Slow(), RecentErrors()

    await add_configured((NOTES,), tuple, writer, errors)

    assert 3 == len(writer.commands)
    assert () == errors.newest_first()


async def test_settings_that_changed_are_pointed_out(writer: FakeWriter) -> None:
    """The store's settings stay in force until the person decides."""
    errors = RecentErrors()
    changed = SourceSettings(path="/notes", exclude=())

    await add_configured((changed,), lambda: (STORED,), writer, errors)

    assert [] == writer.commands
    assert f"twolane source remove {STORED.id}" in errors.newest_first()[0].message
