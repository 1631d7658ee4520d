"""What happens around every call: parsing, a place in the queue, errors, an id, a log line."""

from twolaned.server.interceptors.calls import CallInterceptor
from twolaned.server.interceptors.gate import Gate, gate_of

__all__ = ["CallInterceptor", "Gate", "gate_of"]
