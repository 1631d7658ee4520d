"""Addresses of providers: which are on this machine, and which may be used at all."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from twolaned.model.errors import ConfigError

OLLAMA_PORT = 11_434
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base *url* without a trailing slash. *on_loopback* if its host can only be this machine."""

    url: str
    on_loopback: bool


def is_loopback(host: str) -> bool:
    """Whether *host* is a loopback address in its usual spelling, or ``localhost``.

    A name that resolves to loopback does not count: another answer may come the next time.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped.is_loopback
    return address.is_loopback


def voyage_endpoint(url: str) -> Endpoint:
    """The Voyage API at *url*; a host alone gets the path ``/v1``.

    Raises ConfigError for anything but HTTPS, plain HTTP being allowed on loopback only: the key
    travels with each call.
    """
    key = "embedding.base_url"
    parts = _split(url if "://" in url else f"https://{url}", key)
    host = _host(parts, key)
    on_loopback = is_loopback(host)
    if parts.scheme == "http" and not on_loopback:
        raise _unusable(key, url, "it is not encrypted and would show the key; use https://")
    return Endpoint(_joined(parts, host, _port(parts, key), parts.path or "/v1"), on_loopback)


def ollama_endpoint(host: str) -> Endpoint:
    """An Ollama server at *host*, in any spelling that ``OLLAMA_HOST`` knows. Raises ConfigError.

    ``localhost`` becomes 127.0.0.1, so that no resolver has a say in where local texts go, and an
    address that a server listens on everywhere with becomes the loopback one.
    """
    key = "the Ollama host"
    parts = _split(host if "://" in host else f"http://{host}", key)
    name = parts.hostname or "127.0.0.1"
    if name.lower() in ("localhost", "0.0.0.0"):  # noqa: S104 (nothing is bound here)
        name = "127.0.0.1"
    elif name == "::":
        name = "::1"
    port = _port(parts, key)
    if port is None:
        port = _PORTS[parts.scheme] if "://" in host else OLLAMA_PORT
    return Endpoint(_joined(parts, name, port, parts.path), is_loopback(name))


def _split(url: str, key: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        raise _unusable(key, "", "it is not an address") from None
    if parts.username is not None or parts.password is not None:
        raise _unusable(key, "", "it holds a user name or a password")
    if parts.scheme not in _PORTS:
        raise _unusable(key, url, "it must start with http:// or https://")
    if parts.query or parts.fragment:
        raise _unusable(key, "", "it has a query or a fragment")
    return parts


def _host(parts: SplitResult, key: str) -> str:
    if not parts.hostname:
        raise _unusable(key, "", "it names no host")
    return parts.hostname


def _port(parts: SplitResult, key: str) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise _unusable(key, "", "its port is not a number from 0 to 65535") from None


def _joined(parts: SplitResult, host: str, port: int | None, path: str) -> str:
    name = f"[{host}]" if ":" in host else host
    place = name if port is None else f"{name}:{port}"
    return f"{parts.scheme}://{place}{path.rstrip('/')}"


def _unusable(key: str, url: str, why: str) -> ConfigError:
    which = f" {url}" if url else ""
    return ConfigError(f"The address{which} in {key} cannot be used: {why}.", key=key)
