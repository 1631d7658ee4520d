"""Every limit of the API: at it all is well, over it the field is named."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import source_service_pb2 as sources
from twolaned.model.errors import InvalidInput
from twolaned.services.convert_query import query_from_proto
from twolaned.services.convert_save import save_from_proto
from twolaned.services.convert_source import new_source

SAVE: dict[str, Any] = {"source": "claude-code", "summary": "We chose a queue."}

GOOD_SEARCHES: dict[str, dict[str, Any]] = {
    "query": {"query": "é" * 8_192},
    "top_k": {"top_k": 200},
    "strict": {"cwd": "/work", "strict_project": True},
    "filter": {"filters": search.Filters(topic="x" * 1_024, sources=["a"] * 100)},
}
BAD_SEARCHES: dict[str, tuple[dict[str, Any], str]] = {
    "query": ({"query": "é" * 8_193}, "query"),
    "top_k over": ({"top_k": 201}, "top_k"),
    "top_k under": ({"top_k": -1}, "top_k"),
    "cwd": ({"cwd": "work"}, "cwd"),
    "strict": ({"strict_project": True}, "cwd"),
    "scope": ({"filters": search.Filters(scope=77)}, "filters.scope"),  # type: ignore[arg-type]
    "detail": ({"detail": 77}, "detail"),
    "similarity": ({"similarity": -1}, "similarity"),
    "since": (
        {"filters": search.Filters(since=Timestamp(nanos=-1))},
        "filters.since",
    ),
    "topic": ({"filters": search.Filters(topic="x" * 1_025)}, "filters.topic"),
    "sources": ({"filters": search.Filters(sources=["a"] * 101)}, "filters.sources"),
    "source": (
        {"filters": search.Filters(sources=["a", "x" * 1_025])},
        "filters.sources[1]",
    ),
}
GOOD_SAVES: dict[str, dict[str, Any]] = {
    "source": {"source": "s" * 64},
    "summary": {"summary": "é" * 20_000},
    "content": {"content": "é" * 4_194_304},
    "decisions": {"decisions": ["d"] * 100},
    "key": {"idempotency_key": "é" * 200},
    "title": {"title": "t" * 1_024},
}
BAD_SAVES: dict[str, tuple[dict[str, Any], str]] = {
    "no source": ({"source": ""}, "source"),
    "blank source": ({"source": " "}, "source"),
    "long source": ({"source": "s" * 65}, "source"),
    "spaced source": ({"source": "claude code"}, "source"),
    "control character": ({"source": "a\x00b"}, "source"),
    "no summary": ({"summary": ""}, "summary"),
    "blank summary": ({"summary": " \n"}, "summary"),
    "long summary": ({"summary": "é" * 20_001}, "summary"),
    "content": ({"content": "é" * 4_194_304 + "x"}, "content"),
    "decisions": ({"decisions": ["d"] * 101}, "decisions"),
    "key_outputs": ({"key_outputs": ["d"] * 101}, "key_outputs"),
    "topics": ({"topics": ["d"] * 101}, "topics"),
    "a topic": ({"topics": ["a", "x" * 10_001]}, "topics[1]"),
    "title": ({"title": "t" * 1_025}, "title"),
    "client": ({"client": "t" * 1_025}, "client"),
    "cwd": ({"cwd": "work"}, "cwd"),
    "key": ({"idempotency_key": "k" * 201}, "idempotency_key"),
    "replaced key": ({"replace_idempotency_key": "k" * 201}, "replace_idempotency_key"),
    "occurred_at": ({"occurred_at": Timestamp(seconds=1 << 60)}, "occurred_at"),
    "quality": ({"quality": 12}, "quality"),
}
BAD_SOURCES: dict[str, tuple[dict[str, Any], str]] = {
    "no path": ({}, "source.path"),
    "relative path": ({"path": "notes"}, "source.path"),
    "long path": ({"path": "/" + "x" * 4_096}, "source.path"),
    "path with a null": ({"path": "/a\0b"}, "source.path"),
    "scope": ({"path": "/a", "scope": 9}, "source.scope"),
    "extraction": ({"path": "/a", "extraction": 9}, "source.extraction"),
    "client": ({"path": "/a", "client_name": "Acme"}, "source.client_name"),
    "pattern": ({"path": "/a", "exclude": ["*.x", ""]}, "source.exclude[1]"),
}


@pytest.mark.parametrize("name", GOOD_SEARCHES)
def test_a_search_at_the_limit_is_accepted(name: str) -> None:
    """The limit itself is allowed."""
    assert query_from_proto(search.SearchRequest(**GOOD_SEARCHES[name]))


@pytest.mark.parametrize("name", BAD_SEARCHES)
def test_a_search_over_a_limit_names_the_field(name: str) -> None:
    """A caller can see which field it was."""
    fields, wanted = BAD_SEARCHES[name]
    with pytest.raises(InvalidInput) as caught:
        query_from_proto(search.SearchRequest(**fields))

    assert wanted == caught.value.field
    assert wanted in caught.value.message


@pytest.mark.parametrize("name", GOOD_SAVES)
def test_a_save_at_the_limit_is_accepted(name: str) -> None:
    """The limit itself is allowed."""
    assert save_from_proto(archive.SaveRequest(**SAVE | GOOD_SAVES[name]))


@pytest.mark.parametrize("name", BAD_SAVES)
def test_a_save_over_a_limit_names_the_field(name: str) -> None:
    """A caller can see which field it was."""
    fields, wanted = BAD_SAVES[name]
    with pytest.raises(InvalidInput) as caught:
        save_from_proto(archive.SaveRequest(**SAVE | fields))

    assert wanted == caught.value.field
    assert wanted in caught.value.message


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_a_source_that_cannot_be_followed_names_the_field(name: str) -> None:
    """A caller can see which field it was."""
    fields, wanted = BAD_SOURCES[name]
    with pytest.raises(InvalidInput) as caught:
        new_source(sources.Source(**fields))

    assert wanted == caught.value.field


def test_the_sentence_holds_value_and_limit() -> None:
    """It says what is wrong and what would be right."""
    with pytest.raises(InvalidInput) as caught:
        query_from_proto(search.SearchRequest(query="x" * 9_000))

    assert "`query` has 9,000 characters; the limit is 8,192." == caught.value.message
    assert {"field": "query", "size": "9000", "limit": "8192"} == caught.value.metadata
