"""Texts and queries that other search tools were reported to fail on, through a real daemon."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server.test_rpcs import find
from tests.support.daemon import Daemon, running
from tests.support.details import collected
from twolane.v1 import archive_service_pb2 as archive

SAMPLE = Path(__file__).parents[1] / "fixtures" / "formats" / "search" / "texts"
IDS = [
    conversation["id"]
    for conversation in json.loads((SAMPLE / "expected.json").read_text("utf-8"))["conversations"]
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def daemon() -> AsyncIterator[Daemon]:
    async with running() as daemon:
        header = archive.ImportHeader(path=str(SAMPLE / "conversations.json"))
        await collected(daemon.archive.Import(iter([archive.ImportRequest(header=header)])))
        yield daemon


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("悬空", 0),
        ("itgc", 0),
        ("引用", 0),
        ("食べ", 1),
        ("テスト", 1),
        ("POL-358", 2),
        ("ask-codex", 2),
        ("error:timeout", 2),
        ("a'b", 2),
        ("@nasa", 2),
        ("50%", 2),
        ("C++", 2),
        ("cafe", 3),
        ("strasse", 3),
        ("file", 3),
        ("istanbul", 3),
        ("검색", 4),
        ('"清零，修复"', 0),
        ("multi-agent ask-codex", 2),
        ("TODO: grammar", 2),
    ],
)
async def test_what_must_be_found(daemon: Daemon, query: str, first: int) -> None:
    answer = await find(daemon, query)
    assert answer.results, query
    assert answer.results[0].id == IDS[first]


async def test_words_of_two_characters_joined_by_or(daemon: Daemon) -> None:
    answer = await find(daemon, "広西 OR 引用")
    assert {IDS[0], IDS[4]} <= {result.id for result in answer.results}


async def test_an_apostrophe_is_no_syntax(daemon: Daemon) -> None:
    await daemon.archive.Save(archive.SaveRequest(source="n", summary="We don't use agents here."))
    answer = await find(daemon, "don't use agents")
    assert answer.results[0].summary == "We don't use agents here."


async def test_words_across_quotes_and_lines_are_found(daemon: Daemon) -> None:
    """The text is searched as a person sees it, not as it was escaped in a file."""
    await daemon.archive.Save(
        archive.SaveRequest(source="n", summary='He said "hold\nfast" and then it broke.')
    )
    answer = await find(daemon, '"hold fast" "and then"')
    assert [r.summary.split()[0] for r in answer.results] == ["He"]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "(",
        ")",
        "*",
        "^",
        ":",
        "-",
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "@",
        "#",
        "=",
        "a=b",
        "&",
        ",",
        ";",
        "?",
        "!",
        "<",
        ">",
        "[",
        "]",
        "'",
        "\\",
        "`",
        '"unbalanced',
        '-"',
        "*:*",
        "NEAR(a)",
        "col:umn",
        "\x00",
        "\ufeff",
        "\u202e",
        "🙂",
        "a" * 8_192,
        '"" ""',
        "--",
        "-*",
        "source:",
    ],
)
async def test_nothing_typed_is_an_error(daemon: Daemon, query: str) -> None:
    answer = await find(daemon, query)
    assert answer.final
