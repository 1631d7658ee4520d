"""From the domain to the wire and back: nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services import strategies
from twolane.v1 import archive_service_pb2 as archive
from twolane.v1 import search_service_pb2 as search
from twolane.v1 import source_service_pb2 as sources
from twolaned.model.errors import InvalidInput
from twolaned.model.query import Filters, SearchQuery
from twolaned.model.row import Quality
from twolaned.model.source import Extraction, Source, SourceScope, source_id
from twolaned.services import (
    convert_answer,
    convert_enums,
    convert_evidence,
    convert_query,
    convert_receipt,
    convert_report,
    convert_save,
    convert_source,
    convert_status,
    convert_time,
)
from twolaned.services.convert_enums import Enum

Way = Callable[[Any], Any]

WAYS: dict[str, tuple[st.SearchStrategy[Any], Way, Way]] = {
    "query": (
        strategies.queries(),
        convert_query.query_to_proto,
        convert_query.query_from_proto,
    ),
    "filters": (
        strategies.filters,
        convert_query.filters_to_proto,
        convert_query.filters_from_proto,
    ),
    "answer": (
        strategies.answers,
        convert_answer.answer_to_proto,
        convert_answer.answer_from_proto,
    ),
    "result": (
        strategies.results,
        convert_answer.result_to_proto,
        convert_answer.result_from_proto,
    ),
    "receipt": (
        strategies.receipts,
        convert_receipt.receipt_to_proto,
        convert_receipt.receipt_from_proto,
    ),
    "opening": (
        strategies.openings,
        convert_evidence.opening_to_proto,
        convert_evidence.opening_from_proto,
    ),
    "evidence": (
        strategies.evidence,
        convert_evidence.evidence_to_proto,
        convert_evidence.evidence_from_proto,
    ),
    "report": (
        strategies.reports,
        convert_report.report_to_proto,
        convert_report.report_from_proto,
    ),
    "source": (
        strategies.sources,
        convert_source.source_to_proto,
        convert_source.source_from_proto,
    ),
    "save": (
        strategies.saves,
        convert_save.save_to_proto,
        convert_save.save_from_proto,
    ),
    "saved": (
        strategies.saved,
        lambda saved: convert_save.saved_to_proto(saved, 7),
        convert_save.saved_from_proto,
    ),
    "status": (
        strategies.statuses,
        convert_status.status_to_proto,
        convert_status.status_from_proto,
    ),
}

ENUMS = [value for value in vars(convert_enums).values() if isinstance(value, Enum)]


@pytest.mark.parametrize("name", WAYS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_a_value_survives_the_wire(name: str, data: st.DataObject) -> None:
    """Domain -> proto -> bytes -> proto -> domain is the identity."""
    strategy, to_proto, from_proto = WAYS[name]
    value = data.draw(strategy)

    message: Message = to_proto(value)
    received = type(message).FromString(message.SerializeToString())

    assert value == from_proto(received)


@pytest.mark.parametrize("enum", ENUMS, ids=lambda e: e._name)
def test_every_enum_value_has_its_partner(enum: Any) -> None:
    """Names agree on both sides, and no proto value is left over but the unspecified one."""
    numbers = {number for number, _ in enum._from_proto.items()}

    assert all(value == enum.known(enum.to_proto(value), "f") for value in enum._to_proto)
    assert 0 not in numbers
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_a_number_that_an_enum_does_not_have_names_the_field() -> None:
    """A newer client's value is refused, not taken for another."""
    request = search.SearchRequest(filters=search.Filters(qualities=[2, 9]))  # type: ignore[list-item]

    with pytest.raises(InvalidInput) as caught:
        convert_query.query_from_proto(request)

    assert "filters.qualities[1]" == caught.value.field
    assert ("UNKNOWN_ENUM_VALUE", "9") == (caught.value.reason, caught.value.metadata["value"])


def test_an_empty_search_request_takes_the_defaults() -> None:
    """What is not given has the value that the proto promises."""
    assert SearchQuery(query="") == convert_query.query_from_proto(search.SearchRequest())


def test_an_unspecified_rating_in_a_filter_is_any() -> None:
    """It lifts the condition, whatever else the list names."""
    filters = search.Filters(qualities=[4, 0])  # type: ignore[list-item]

    assert Filters() == convert_query.filters_from_proto(filters)


def test_a_save_without_a_rating_is_unrated() -> None:
    """Then it is rated by what it holds."""
    request = archive.SaveRequest(source="s", summary="x")

    assert Quality.UNRATED == convert_save.save_from_proto(request).quality


@pytest.mark.parametrize(
    ("given_path", "stored"),
    [
        ("/notes", "/notes"),
        ("/notes/", "/notes"),
        ("//notes/./a/../b", "/notes/b"),
        ("/", "/"),
    ],
)
def test_a_folder_has_one_spelling(given_path: str, stored: str) -> None:
    """However the path is written, the source and its id are the same."""
    source = convert_source.new_source(sources.Source(path=given_path))

    assert Source(id=source_id(stored), path=stored) == source


def test_a_new_source_takes_what_is_given_and_ignores_output_only_fields() -> None:
    """Counts and times are the daemon's to say."""
    source = convert_source.new_source(
        sources.Source(
            id="mine",
            path="/acme",
            extraction=sources.EXTRACTION_LOCAL,
            scope=sources.SOURCE_SCOPE_CLIENT,
            client_name="Acme",
            exclude=["*.tmp"],
            documents=7,
            last_error="x",
        )
    )

    assert source == Source(
        id=source_id("/acme"),
        path="/acme",
        extraction=Extraction.LOCAL,
        scope=SourceScope.CLIENT,
        client_name="Acme",
        exclude=("*.tmp",),
    )


@pytest.mark.parametrize(
    "value",
    [
        Timestamp(seconds=-62_135_596_801),
        Timestamp(seconds=253_402_300_800),
        Timestamp(seconds=1, nanos=-1),
        Timestamp(seconds=1, nanos=1_000_000_000),
    ],
    ids=str,
)
def test_what_is_no_time_is_refused(value: Timestamp) -> None:
    """Such a value would name a time that no calendar has."""
    with pytest.raises(InvalidInput):
        convert_time.milliseconds("since", value)


@pytest.mark.parametrize(
    "value",
    [
        Duration(seconds=315_576_000_001),
        Duration(seconds=1, nanos=-1),
        Duration(seconds=-1, nanos=1),
        Duration(nanos=1_000_000_000),
    ],
    ids=str,
)
def test_what_is_no_span_is_refused(value: Duration) -> None:
    """Signs must agree and nanoseconds stay below a second."""
    with pytest.raises(InvalidInput):
        convert_time.microseconds("grace", value)
