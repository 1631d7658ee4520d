"""The call that is being answered: known to whatever runs on its behalf."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a client.

    *method* is the full name, such as ``/twolane.v1.SearchService/Search``. *client* is what the
    caller says of itself; it is good for logs and for nothing else. *arrived* is seconds of the
    monotonic clock.
    """

    method: str
    request_id: str
    client: str = ""
    arrived: float = field(default_factory=time.monotonic)

    def seconds(self) -> float:
        """How long ago the call arrived."""
        return time.monotonic() - self.arrived


current_call: ContextVar[Call | None] = ContextVar("current_call", default=None)
"""The call of the task that asks; None outside of one."""


def arrival() -> float:
    """When the current call arrived, in seconds of the monotonic clock."""
    call = current_call.get()
    return time.monotonic() if call is None else call.arrived
