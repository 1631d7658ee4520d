"""Random input for everything that takes input from outside: nothing but the promised errors.

Each target runs for `TWOLANE_FUZZ_SECONDS`: 2, in CI 10, by hand as long as you like. Input comes
from the target's corpus, changed at random. What once broke a target is kept in its corpus, in
`tests/fixtures/fuzz`, and is tried unchanged first.
"""

from __future__ import annotations

import contextlib
import os
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random, SystemRandom

import pytest
from google.protobuf.message import DecodeError, Message

from tests.search.corpus import Corpus
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import source_service_pb2 as source
from twolaned.config.load import settings_of
from twolaned.ingest.limits import IngestLimits
from twolaned.ingest.reader import read
from twolaned.model.errors import ConfigError, InvalidInput
from twolaned.services.convert_evidence import opening_from_proto
from twolaned.services.convert_query import query_from_proto
from twolaned.services.convert_save import save_from_proto

FIXTURES = Path(__file__).parents[1] / "fixtures"
SECONDS = float(os.environ.get("TWOLANE_FUZZ_SECONDS", "10" if "TWOLANE_CI" in os.environ else "2"))
LONGEST = 20_000
WORDS = (
    *(b'"', b"-", b"*", b":", b"source:", b"after:", b"before:", b"path:", b"\x00", b"\xff", b"["),
    *(b"{", b"}", b"]", b"null", b"1e999", b"\\ud800", b"\n", b"\r\n", b"data:;base64,", b"-1"),
    *(b"mapping", b"parent", b"chat_messages", b"sessionId", b"99999999999999999999", b"="),
    *(b"\xe2\x80\xa8", b"'''"),
)
"""What is put into an input now and then: signs and words that mean something to a target."""


def kept(target: str) -> list[bytes]:
    """What once broke *target*."""
    folder = FIXTURES / "fuzz" / target
    return [f.read_bytes() for f in sorted(folder.iterdir()) if f.name != ".gitkeep"]


def inputs(target: str, corpus: list[bytes], seed: int) -> Iterator[bytes]:
    """The kept inputs, then changed ones until the time is up."""
    yield from kept(target)
    random = Random(seed)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        data = bytearray(random.choice(corpus)[:LONGEST])
        for _ in range(random.randint(1, 6)):
            at = random.randint(0, len(data))
            match random.randrange(5):
                case 0:
                    data[at:at] = random.choice(WORDS)
                case 1:
                    del data[at : at + random.randint(1, 40)]
                case 2:
                    data[at : at + 1] = bytes([random.randrange(256)])
                case 3:
                    data[at:at] = data[random.randint(0, len(data)) :][: random.randint(1, 200)]
                case 4:
                    other = random.choice(corpus)
                    data[at:at] = other[random.randint(0, len(other)) :][:300]
        yield bytes(data)


def check(target: str, corpus: list[bytes], works: Callable[[bytes], None]) -> None:
    seed = SystemRandom().randrange(1 << 32)
    for data in inputs(target, corpus, seed):
        try:
            works(data)
        except Exception as error:
            error.add_note(
                f"seed {seed}; keep this input in tests/fixtures/fuzz/{target}: {data!r}"
            )
            raise


@pytest.mark.timeout(600)
def test_no_query_fails() -> None:
    index = Corpus()
    for number, words in enumerate(("ferry tide", "C++ and 語の検索", "don't use agents", "naïve")):
        index.add(f"{words} number {number}", title=words)
    corpus = [b'"ferry tide" -mooring ti* source:notes after:2026-01 before:yesterday path:docs/*',
              b"why did we leave redis", "語の検索 C++ a'b 50%".encode()]  # fmt: skip

    def works(data: bytes) -> None:
        answer = index.search(data.decode("utf-8", "replace")[:8_192])
        assert answer.receipt.index_generation

    check("query", corpus, works)


@pytest.mark.timeout(600)
def test_no_request_breaks_its_reading() -> None:
    """Bytes become a message or do not; a message becomes a call or names the wrong field."""
    readers: tuple[tuple[type[Message], Callable[..., object]], ...] = (
        (search.SearchRequest, query_from_proto),
        (search.OpenEvidenceRequest, opening_from_proto),
        (archive.SaveRequest, save_from_proto),
    )
    corpus = [
        search.SearchRequest(
            query="a b", top_k=3, filters=search.Filters(sources=["x"], qualities=[1, 2])
        ).SerializeToString(),
        archive.SaveRequest(source="a", summary="b", decisions=["c"]).SerializeToString(),
        source.AddSourceRequest(source=source.Source(path="/a")).SerializeToString(),
    ]

    def works(data: bytes) -> None:
        for kind, convert in readers:
            message = kind()
            try:
                message.ParseFromString(data)
                convert(message)
            except (DecodeError, InvalidInput):
                continue

    check("request", corpus, works)


@pytest.mark.timeout(600)
def test_no_configuration_fails_without_a_reason() -> None:
    corpus = [
        b'[ranking]\nsimilarity = "max"\ndate = "occurred"\n',
        b'[[sources]]\npath = "/a"\nscope = "client"\nexclude = ["*.log"]\n',
        b'[embedding]\nmodel = "m"\nprovider = "voyage"\noutput_dimension = 512\n',
        b'[server]\ntcp = "127.0.0.1:7000"\n[limits]\n[compaction]\nage_threshold_days = 30\n',
    ]

    def works(data: bytes) -> None:
        with contextlib.suppress(tomllib.TOMLDecodeError, ConfigError):
            table = tomllib.loads(data.decode("utf-8", "replace"))
            settings_of(table, Path("config.toml"))

    check("config", corpus, works)


@pytest.mark.timeout(600)
def test_no_file_stops_an_import(tmp_path: Path) -> None:
    samples = sorted(p for p in (FIXTURES / "formats").rglob("*") if p.is_file())
    corpus = [p.read_bytes() for p in samples if 0 < p.stat().st_size <= LONGEST]
    path = tmp_path / "input"
    limits = IngestLimits(max_element_bytes=1 << 20, max_line_bytes=1 << 20)

    def works(data: bytes) -> None:
        path.write_bytes(data)
        assert list(read(path, name="input", limits=limits))

    check("import", corpus, works)
