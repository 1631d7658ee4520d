"""Pages of a list."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.model.errors import InvalidInput
from twolaned.services.pages import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, page

NAMES = [f"s{number:04d}" for number in range(2_500)]


def names(
    names: list[str], *, size: int = 0, token: str = "", of: str = "List"
) -> tuple[list[str], str]:
    return page(names, str, of=of, size=size, token=token)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True), st.integers(1, 7))
def test_the_pages_together_are_the_list(items: list[str], size: int) -> None:
    """Each item once, in order, whatever the size."""
    seen, token, more = [], "", True
    while more:
        found, token = names(items, size=size, token=token)
        assert len(found) <= size
        seen += found
        more = token != ""

    assert sorted(items) == seen


def test_the_size_has_a_default_and_a_limit() -> None:
    """Zero is the default, too much is read as the limit."""
    assert DEFAULT_PAGE_SIZE == len(names(NAMES)[0])
    assert MAX_PAGE_SIZE == len(names(NAMES, size=1_000_000)[0])


def test_a_negative_size_is_refused() -> None:
    """It has no meaning."""
    with pytest.raises(InvalidInput, match="page_size"):
        names(NAMES, size=-1)


def test_an_item_that_came_or_went_between_pages_disturbs_no_other() -> None:
    """The next page begins behind the last item of the one before, also if that is gone."""
    first, token = names(["a", "c", "e", "g"], size=2)

    second, _ = names(["a", "b", "d", "e", "g"], size=2, token=token)

    assert (["a", "c"], ["d", "e"]) == (first, second)


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("x", id="no base64"),
        pytest.param("ä", id="no ascii"),
        pytest.param(base64.urlsafe_b64encode(b"nothing").decode(), id="no token"),
        pytest.param(base64.urlsafe_b64encode(b"\x92\x01\xa1x").decode(), id="made up"),
        pytest.param(names(NAMES, of="Another")[1], id="another list's"),
    ],
)
def test_a_token_of_elsewhere_is_refused(token: str) -> None:
    """A token is good for the list and the arguments that it came from."""
    with pytest.raises(InvalidInput) as caught:
        names(NAMES, token=token)

    assert "page_token" == caught.value.field
