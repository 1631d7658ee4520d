"""Following the folders that the configuration names, besides those added by hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from twolaned.config import SourceSettings
from twolaned.model.errors import AlreadyExists, TwolaneError, Unavailable
from twolaned.model.source import Source, source_id
from twolaned.server.recent_errors import RecentErrors
from twolaned.services.convert_source import folder_path
from twolaned.services.ports import Writer
from twolaned.writer.protocol import AddSource

log = logging.getLogger(__name__)


def source_of(settings: SourceSettings) -> Source:
    """The source that *settings* describe."""
    path = folder_path(str(Path(settings.path).expanduser()))
    return Source(
        id=source_id(path),
        path=path,
        extraction=settings.extraction,
        scope=settings.scope,
        client_name=settings.client_name,
        exclude=settings.exclude,
    )


async def add_configured(
    configured: tuple[SourceSettings, ...],
    known: Callable[[], tuple[Source, ...]],
    writer: Writer,
    errors: RecentErrors,
) -> None:
    """Add each of *configured* that is not *known*; a folder that is not there is only reported."""
    for settings in configured:
        source = source_of(settings)
        stored = next((s for s in known() if s.path == source.path), None)
        if stored is None:
            await _add(source, writer, errors)
        elif not _agree(stored, source):
            errors.add(
                "config",
                f"The source {source.path} is followed with other settings than the configuration"
                f" names. `twolane source remove {stored.id}` and a restart put that right.",
            )


async def _add(source: Source, writer: Writer, errors: RecentErrors) -> None:
    while True:
        try:
            await writer.call(AddSource(source))
        except AlreadyExists:
            return
        except Unavailable as e:
            log.info("the writer is not up yet; %s is added when it is", source.path)
            await asyncio.sleep(e.retry_after)
            continue
        except TwolaneError as e:
            log.warning("%s is not followed: %s", source.path, e.message)
            errors.add("config", e.message)
        return


def _agree(stored: Source, wanted: Source) -> bool:
    return (stored.extraction, stored.scope, stored.client_name, stored.exclude) == (
        wanted.extraction,
        wanted.scope,
        wanted.client_name,
        wanted.exclude,
    )
