"""A client for a process that outlives daemons: an agent's bridge, an editor's child, a screen."""

from __future__ import annotations

import asyncio
import os

from twolane.aio import AsyncClient
from twolane.connection import listening
from twolane.launch import ensure_daemon


class LongLived:
    """Connects at the first call, and starts a daemon whenever a call finds none.

    *name* tells the daemon's log who calls; the rest is as for `twolane.connect`. Belongs to one
    event loop.
    """

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        *,
        timeout: float | None = None,
        name: str,
        autostart: bool = True,
    ) -> None:
        self._socket = socket
        self._timeout = timeout
        self._name = name
        self._autostart = autostart
        self._client: AsyncClient | None = None
        self._connecting = asyncio.Lock()

    async def client(self) -> AsyncClient:
        """Return a client of a daemon that listens. Raises DaemonUnavailable."""
        async with self._connecting:
            if self._client is not None:
                socket = self._client.endpoint.socket
                assert socket is not None, "it was given no TCP address"
                if await asyncio.to_thread(listening, socket):
                    return self._client
                await self.close()
            await asyncio.to_thread(ensure_daemon, self._socket, autostart=self._autostart)
            self._client = AsyncClient(self._socket, timeout=self._timeout, name=self._name)
            return self._client

    async def close(self) -> None:
        """Cancel what is running and let the connection go; the next call makes another."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
