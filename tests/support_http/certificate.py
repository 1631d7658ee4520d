"""A certificate for 127.0.0.1 that only tests trust."""

from __future__ import annotations

import ssl
from pathlib import Path

_PEM = Path(__file__).with_name("localhost.pem")


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_PEM)
    return context


def client_context() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(_PEM))
