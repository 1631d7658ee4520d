"""From a domain error to a status."""

from __future__ import annotations

from google.rpc.status_pb2 import Status
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.model.errors import InvalidInput
from twolaned.server.interceptors.statuses import shortened, status_of

METADATA_LIMIT = 8 << 10
"""Bytes of metadata that a client takes in by default."""


@settings(deadline=None, max_examples=60)
@given(st.text(), st.integers(4, 40))
def test_a_shortened_text_fits_and_is_whole_characters(text: str, limit: int) -> None:
    """Short texts stay as they are, long ones end with an ellipsis."""
    data = text.encode("utf-8", "replace")
    cut = shortened(text, limit)

    assert len(cut.encode()) <= limit
    assert (cut == data.decode()) is (len(data) <= limit) or cut.endswith("…")


def test_the_longest_error_fits_into_metadata() -> None:
    """A sentence with a long path in it must not be lost over its length."""
    error = InvalidInput("field", "ż" * 5_000, path="ż" * 5_000, other="x" * 5_000)

    status = status_of(error)

    percent_encoded = 3 * len(status.details.encode())
    size = sum(len(key) + len(value) * 4 / 3 for key, value in status.trailing_metadata)
    assert percent_encoded + size < METADATA_LIMIT - 500
    (binary,) = (value for _, value in status.trailing_metadata)
    assert Status.FromString(binary).message == status.details
