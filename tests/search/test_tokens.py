from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.search.tokens import estimate_from_sample, estimate_tokens


def test_scripts_weigh_differently() -> None:
    """Four letters of English, two of Cyrillic, one Chinese character, half an emoji: one token."""
    assert 25 == estimate_tokens(b"a" * 100)
    assert 50 == estimate_tokens("я".encode() * 100)
    assert 100 == estimate_tokens("引".encode() * 100)
    assert 200 == estimate_tokens("😀".encode() * 100)


@given(st.text(), st.text())
@settings(max_examples=100, deadline=None)
def test_the_estimate_adds_up(a: str, b: str) -> None:
    """Two texts have the tokens of both."""
    both = estimate_tokens((a + b).encode())

    assert abs(both - estimate_tokens(a.encode()) - estimate_tokens(b.encode())) <= 1


def test_a_sample_shows_the_script() -> None:
    """The size of the whole text counts, at the sample's rate."""
    assert 1_000 == estimate_from_sample(3_000, "引用".encode())
    assert 750 == estimate_from_sample(3_000, b"plain words")
    assert 750 == estimate_from_sample(3_000, b"")
    assert 0 == estimate_from_sample(0, b"")
    assert 1 == estimate_from_sample(1, b"a")
