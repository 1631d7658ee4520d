from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.search import words

TEXT = "We keep the queue, retried, in Postgres."


def test_a_cut_moves_back_to_white_space() -> None:
    """The longest cut that splits no word."""
    assert "We keep the " == TEXT[: words.cut_before(TEXT, 14)]
    assert "We keep the" == TEXT[: words.cut_before(TEXT, 11)]
    assert TEXT == TEXT[: words.cut_before(TEXT, 99)]


def test_a_cut_moves_on_to_white_space() -> None:
    """The earliest place behind where a word begins."""
    assert " the queue, retried, in Postgres." == TEXT[words.cut_after(TEXT, 4) :]
    assert TEXT == TEXT[words.cut_after(TEXT, 0) :]


def test_without_white_space_a_word_border_will_do() -> None:
    """A long path is cut at a slash."""
    path = "a" * 100 + "/" + "b" * 100

    assert 101 == words.cut_before(path, 110)
    assert 100 == words.cut_after(path, 90)


def test_unspaced_text_is_cut_anywhere() -> None:
    """Chinese words have no visible border."""
    assert 7 == words.cut_before("步骤重跑生成之后清零", 7)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("cafe\u0301s", 4), ("👨‍👩‍👧", 1), ("👨‍👩‍👧", 2), ("👍🏽", 1), ("🇩🇪🇫🇷", 1), ("🇩🇪🇫🇷", 3),
        ("a\r\nb", 2), ("❤\ufe0f", 1), ("กำ\u0e49", 2),
    ],
)  # fmt: skip
def test_what_looks_like_one_character_is_not_split(text: str, inside: int) -> None:
    """Marks, joined emoji, skin tones, flags and CR LF stay together."""
    assert not words.is_grapheme_border(text, inside)


def test_flags_in_a_row_are_split_between_flags() -> None:
    """Two letters make a flag."""
    assert words.is_grapheme_border("🇩🇪🇫🇷", 2)


def test_the_border_of_an_unspaced_script_is_a_word_border() -> None:
    """Latin words inside Chinese text stand for themselves."""
    assert words.is_word_border("重跑gen后", 2)
    assert words.is_word_border("重跑gen后", 5)
    assert not words.is_word_border("重跑gen后", 3)


@given(st.text(max_size=300), st.integers(0, 320))
@settings(max_examples=300, deadline=None)
def test_cuts_stay_in_bounds_and_make_progress(text: str, at: int) -> None:
    """A cut never leaves the text; one that may hold something does."""
    before, after = words.cut_before(text, at), words.cut_after(text, at)

    assert 0 <= before <= len(text)
    assert before <= max(at, 0) or at >= len(text)
    assert before > 0 or at <= 0 or not text
    assert min(at, len(text)) <= after <= len(text)
