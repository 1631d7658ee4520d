from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.embedding.error import EmbeddingError
from twolaned.model.embedding import EmbeddingFailure, FailureReason, VectorSpace


@settings(max_examples=100, deadline=None)
@given(
    st.text(min_size=1).filter(lambda text: "/" not in text),
    st.text(min_size=1),
    st.integers(1, 10_000),
)
def test_a_space_is_read_as_it_was_written(provider: str, model: str, dimensions: int) -> None:
    """Models may have slashes and colons in their names."""
    space = VectorSpace(provider, model, dimensions)

    assert space == VectorSpace.parse(str(space))


@pytest.mark.parametrize(
    "text", ["", "voyage", "voyage/512", "voyage//512", "a/b/0", "a/b/x", "/b/1"]
)
def test_what_names_no_space(text: str) -> None:
    """A damaged name is an error and no other space."""
    with pytest.raises(ValueError, match=r"name no space|invalid literal"):
        VectorSpace.parse(text)


def test_the_words_of_the_api() -> None:
    """Clients match on them."""
    assert {
        "timeout",
        "provider_error",
        "provider_unreachable",
        "rate_limited",
        "auth",
        "circuit_open",
        "space_incomplete",
    } == {reason.value for reason in FailureReason}


def test_an_error_is_one_of_the_products() -> None:
    """It carries its failure, and a reason in the spelling of all errors."""
    error = EmbeddingError(FailureReason.RATE_LIMITED, "Too often.", retry_after=2.0)

    assert "EMBEDDING_RATE_LIMITED" == error.reason
    assert "Too often." == str(error) == error.message
    assert EmbeddingFailure(FailureReason.RATE_LIMITED, "Too often.", 2.0) == error.failure
