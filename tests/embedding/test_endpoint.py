from __future__ import annotations

import pytest

from twolaned.embedding.endpoint import Endpoint, is_loopback, ollama_endpoint, voyage_endpoint
from twolaned.model.errors import ConfigError


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.10", "::1", "localhost", "LOCALHOST", "::ffff:127.0.0.1"]
)
def test_loopback(host: str) -> None:
    """The addresses that never leave the machine."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "192.168.1.5",
        "10.0.0.1",
        "0.0.0.0",
        "::",
        "2130706433",
        "127.1",
        "0x7f.0.0.1",
        "localhost.example.com",
        "127.0.0.1.nip.io",
        "ollama.localhost",
        "localhost.",
        "::1%eth0",
        "::ffff:10.0.0.1",
        "fe80::1",
        "",
    ],
)
def test_not_loopback(host: str) -> None:
    """Also what may be loopback on some machines and with some resolvers."""
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("host", "url", "local"),
    [
        ("", "http://127.0.0.1:11434", True),
        ("127.0.0.1", "http://127.0.0.1:11434", True),
        ("localhost", "http://127.0.0.1:11434", True),
        ("localhost:8080", "http://127.0.0.1:8080", True),
        (":8080", "http://127.0.0.1:8080", True),
        ("0.0.0.0", "http://127.0.0.1:11434", True),
        ("0.0.0.0:8080", "http://127.0.0.1:8080", True),
        ("[::]:8080", "http://[::1]:8080", True),
        ("[::1]", "http://[::1]:11434", True),
        ("http://localhost", "http://127.0.0.1:80", True),
        ("https://127.0.0.1/ollama/", "https://127.0.0.1:443/ollama", True),
        ("gpu.lan", "http://gpu.lan:11434", False),
        ("https://ollama.com", "https://ollama.com:443", False),
        ("http://192.168.1.5:11434/", "http://192.168.1.5:11434", False),
    ],
)
def test_ollama_hosts(host: str, url: str, local: bool) -> None:
    """Every spelling of ``OLLAMA_HOST``; a name for this machine becomes its address."""
    assert Endpoint(url, local) == ollama_endpoint(host)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://ai.mongodb.com/v1", "https://ai.mongodb.com/v1"),
        ("https://ai.mongodb.com/v1/", "https://ai.mongodb.com/v1"),
        ("https://ai.mongodb.com", "https://ai.mongodb.com/v1"),
        ("ai.mongodb.com", "https://ai.mongodb.com/v1"),
        ("https://proxy.example.com:8443/voyage/v1", "https://proxy.example.com:8443/voyage/v1"),
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000/v1"),
    ],
)
def test_voyage_addresses(given: str, url: str) -> None:
    """A host alone is enough."""
    assert url == voyage_endpoint(given).url


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("http://ai.mongodb.com/v1", "not encrypted"),
        ("http://localhost.example.com", "not encrypted"),
        ("ftp://ai.mongodb.com", "must start with"),
        ("https://user:secret@ai.mongodb.com", "user name or a password"),
        ("https://ai.mongodb.com/v1?key=secret", "query"),
        ("https://ai.mongodb.com:99999", "port"),
        ("https://", "no host"),
        ("https://[::1", "not an address"),
    ],
)
def test_addresses_that_are_refused(given: str, why: str) -> None:
    """The sentence says why, names the key, and quotes no password."""
    with pytest.raises(ConfigError, match=why) as caught:
        voyage_endpoint(given)

    assert "embedding.base_url" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("given", ["unix:///run/ollama.sock", "http://a:b@127.0.0.1", "a:b:c"])
def test_ollama_hosts_that_are_refused(given: str) -> None:
    """What the client could not use is refused at start."""
    with pytest.raises(ConfigError, match="Ollama host"):
        ollama_endpoint(given)
