from __future__ import annotations

import json

import pytest
from google.protobuf.descriptor import EnumDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st

from twolane import words
from twolane.errors import InvalidRequest
from twolane.render import dump, to_dict, to_json
from twolane.v1 import (
    admin_service_pb2,
    archive_service_pb2,
    common_pb2,
    search_service_pb2,
    source_service_pb2,
)
from twolane.v1.search_service_pb2 import ScoreParts, SearchRequest, SearchResponse, SearchResult

MODULES = (
    admin_service_pb2,
    archive_service_pb2,
    common_pb2,
    search_service_pb2,
    source_service_pb2,
)
ENUMS = [enum for module in MODULES for enum in module.DESCRIPTOR.enum_types_by_name.values()]


def test_enums_are_words() -> None:
    """Enum values lose their prefix, at every depth and in lists."""
    answer = SearchResponse(
        mode=search_service_pb2.SEARCH_MODE_LEXICAL,
        results=[SearchResult(passage_kind=search_service_pb2.PASSAGE_KIND_OFF_BRANCH)],
    )
    answer.receipt.tiers_searched[:] = [common_pb2.TIER_HOT, common_pb2.TIER_COLD]

    tree = to_dict(answer)

    assert "lexical" == tree["mode"]
    assert "off_branch" == tree["results"][0]["passage_kind"]
    assert ["hot", "cold"] == tree["receipt"]["tiers_searched"]


def test_defaults_are_printed_and_absent_fields_are_not() -> None:
    """A field without presence is always there; an optional one only if it is set."""
    tree = to_dict(SearchResult(score_parts=ScoreParts(cosine=0.0)))

    assert ("", False, "unspecified") == (tree["id"], tree["generated"], tree["tier"])
    assert 0.0 == tree["score_parts"]["cosine"]
    assert "bm25" not in tree["score_parts"]
    assert "occurred_at" not in tree


def test_protobufs_mapping_is_kept() -> None:
    """64-bit integers are strings, times are RFC 3339 and names those of the proto files."""
    result = SearchResult(content_bytes=1 << 60)
    result.indexed_at.FromSeconds(0)

    tree = to_dict(result)

    assert str(1 << 60) == tree["content_bytes"]
    assert "1970-01-01T00:00:00Z" == tree["indexed_at"]


def test_unknown_enum_values_stay_numbers() -> None:
    """A newer daemon's value is shown, not hidden and not a failure."""
    newer = SearchRequest()
    newer.ParseFromString(b"\x40\x63")  # detail = 99

    assert 99 == to_dict(newer)["detail"]


def test_compact_text_is_one_line_of_unicode() -> None:
    """Compact JSON has no spaces, no line breaks and no ASCII escapes."""
    text = to_json(SearchResponse(read_as_text=["größe:\n語"]))

    assert '"read_as_text":["größe:\\n語"]' in text
    assert "\n" not in text
    assert ": " not in text
    assert '{\n  "a": 1\n}' == dump({"a": 1}, compact=False)


@given(st.text(max_size=50), st.lists(st.sampled_from([1, 2, 3, 4]), max_size=4))
@settings(max_examples=30, deadline=None)
def test_the_text_is_json(query: str, qualities: list[int]) -> None:
    """Whatever a message holds, its rendering can be read back."""
    request = SearchRequest(query=query)
    request.filters.qualities[:] = qualities  # type: ignore[assignment]

    tree = json.loads(to_json(request))

    assert query == tree["query"]
    names = ["unrated", "low", "medium", "high"]
    assert [names[number - 1] for number in qualities] == tree["filters"]["qualities"]


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.name)
def test_every_enum_has_the_derived_prefix(enum: EnumDescriptor) -> None:
    """The prefix that is derived from an enum's name is the one that its values have."""
    assert all(value.name.startswith(words.prefix(enum)) for value in enum.values)
    assert "unspecified" == words.word(enum, 0)


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.name)
def test_words_and_numbers_go_both_ways(enum: EnumDescriptor) -> None:
    """Every word means the number that it stands for."""
    for word in words.choices(enum):
        assert word == words.word(enum, words.number(enum, word, field="x"))


def test_a_wrong_word_is_refused() -> None:
    """The message names the field and the words that would do."""
    with pytest.raises(InvalidRequest, match="tier must be one of hot, cold"):
        words.number(common_pb2.Tier.DESCRIPTOR, "warm", field="tier")
    assert "9" == words.word(common_pb2.Tier.DESCRIPTOR, 9)
