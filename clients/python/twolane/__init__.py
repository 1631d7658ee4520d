"""The thin Python client of twolane: connect, retry, deadlines and types; no ranking, no parsing.

    import twolane

    with twolane.connect() as client:
        answer = client.search_final("why did we drop the queue", top_k=5)
        for result in answer.results:
            print(result.title, result.id)

`connect_async` and `AsyncClient` are the same for asyncio. Importing this package imports neither
gRPC nor protobuf: that happens when the first of its names is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twolane.aio import AsyncClient as AsyncClient
    from twolane.aio import connect_async as connect_async
    from twolane.client import Client as Client
    from twolane.client import connect as connect
    from twolane.connection import PROTOCOL as PROTOCOL
    from twolane.connection import NeedsRestart as NeedsRestart
    from twolane.connection import Ready as Ready
    from twolane.connection import Unreachable as Unreachable
    from twolane.connection import probe as probe
    from twolane.endpoint import Endpoint as Endpoint
    from twolane.errors import AlreadyExists as AlreadyExists
    from twolane.errors import Cancelled as Cancelled
    from twolane.errors import ConfigError as ConfigError
    from twolane.errors import DaemonFailed as DaemonFailed
    from twolane.errors import DaemonUnavailable as DaemonUnavailable
    from twolane.errors import DeadlineExceeded as DeadlineExceeded
    from twolane.errors import IncompatibleDaemon as IncompatibleDaemon
    from twolane.errors import InvalidRequest as InvalidRequest
    from twolane.errors import NotFound as NotFound
    from twolane.errors import NothingImported as NothingImported
    from twolane.errors import Refused as Refused
    from twolane.errors import StartFailed as StartFailed
    from twolane.errors import StoreDamaged as StoreDamaged
    from twolane.errors import TryAgain as TryAgain
    from twolane.errors import TwolaneError as TwolaneError
    from twolane.errors import Violation as Violation
    from twolane.render import to_dict as to_dict
    from twolane.render import to_json as to_json

    __version__: str

_HOMES = {
    "aio": ("AsyncClient", "connect_async"),
    "client": ("Client", "connect"),
    "connection": ("NeedsRestart", "PROTOCOL", "Ready", "Unreachable", "probe"),
    "endpoint": ("Endpoint",),
    "errors": (
        "AlreadyExists",
        "Cancelled",
        "ConfigError",
        "DaemonFailed",
        "DaemonUnavailable",
        "DeadlineExceeded",
        "IncompatibleDaemon",
        "InvalidRequest",
        "NotFound",
        "NothingImported",
        "Refused",
        "StartFailed",
        "StoreDamaged",
        "TryAgain",
        "TwolaneError",
        "Violation",
    ),
    "render": ("to_dict", "to_json"),
}
"""The module that each public name lives in."""

__all__ = [
    "PROTOCOL",
    "AlreadyExists",
    "AsyncClient",
    "Cancelled",
    "Client",
    "ConfigError",
    "DaemonFailed",
    "DaemonUnavailable",
    "DeadlineExceeded",
    "Endpoint",
    "IncompatibleDaemon",
    "InvalidRequest",
    "NeedsRestart",
    "NotFound",
    "NothingImported",
    "Ready",
    "Refused",
    "StartFailed",
    "StoreDamaged",
    "TryAgain",
    "TwolaneError",
    "Unreachable",
    "Violation",
    "__version__",
    "connect",
    "connect_async",
    "probe",
    "to_dict",
    "to_json",
]


def __getattr__(name: str) -> object:
    """Import what *name* stands for when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("twolane")
    import importlib

    for module, names in _HOMES.items():
        if name in names:
            value: object = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
