from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from twolane.cli import text

HOSTILE = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.sampled_from("\x00\x07\x08\x1b\x7f\x80\x9b\x9d\r\n\t\u202e\u2066\u2028 ab語é"),
    ),
    max_size=120,
)
UNSAFE = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202c\u202d\u202e"}
UNSAFE |= set("\u2066\u2067\u2068\u2069")


@given(HOSTILE)
@settings(max_examples=200, deadline=None)
def test_a_line_holds_no_controls(stored: str) -> None:
    """Whatever was stored, one line comes out, and nothing in it steers a terminal."""
    line = text.line(stored)

    assert not UNSAFE & set(line)
    assert not {"\u2028", "\u2029"} & set(line)
    assert line == line.strip()


@given(HOSTILE)
@settings(max_examples=200, deadline=None)
def test_a_block_holds_no_controls_but_line_ends(stored: str) -> None:
    """A text keeps its lines, and nothing else of what steers a terminal."""
    assert not (UNSAFE - {"\n"}) & set(text.block(stored))


def test_controls_are_shown() -> None:
    """What was hidden in a title is seen, not obeyed."""
    assert "␛[31mred␛[0m next ␇" == text.line("\x1b[31mred\x1b[0m\nnext \x07")
    assert "a\nb\n    c" == text.block("a\r\nb\r\tc")


@given(st.text(alphabet="ab c語キé\u0301\u200d", max_size=80), st.integers(2, 40))
@settings(max_examples=200, deadline=None)
def test_wrapping_keeps_every_word(stored: str, cells: int) -> None:
    """Lines fit, are in order, and leave out nothing but spaces."""
    shown = text.line(stored)
    lines = list(text.wrap(shown, cells))

    assert all(text.width(shown[start:end]) <= cells for start, end in lines)
    kept = "".join(shown[start:end] for start, end in lines)
    assert shown.replace(" ", "") == kept.replace(" ", "")


@pytest.mark.parametrize(
    ("shown", "cells", "lines"),
    [
        pytest.param("one two three", 8, ["one two", "three"], id="between words"),
        pytest.param("abcdefghij", 4, ["abcd", "efgh", "ij"], id="a long word"),
        pytest.param("語語語語語", 4, ["語語", "語語", "語"], id="wide characters"),
        pytest.param("語語語。語", 6, ["語語", "語。語"], id="closing marks"),
        pytest.param("an 語語語語", 6, ["an 語", "語語語"], id="mixed"),
        pytest.param("", 8, [], id="nothing"),
    ],
)
def test_wrapping(shown: str, cells: int, lines: list[str]) -> None:
    """Lines end between words, or beside a wide character."""
    assert lines == [shown[start:end] for start, end in text.wrap(shown, cells)]


@given(st.text(alphabet="ab語é\u0301\u200d🙂", max_size=40), st.integers(0, 30))
@settings(max_examples=150, deadline=None)
def test_fitting(shown: str, cells: int) -> None:
    """What is fitted fits; what fits already stays as it is."""
    for fitted in (text.fit(shown, cells), text.fit_middle(shown, cells)):
        assert text.width(fitted) <= max(cells, 1)
        assert fitted == shown or text.ELLIPSIS in fitted or cells == 0


def test_the_middle_is_left_out() -> None:
    """A path keeps its start and, more of it, its end."""
    assert "/home…esign.md" == text.fit_middle("/home/ada/notes/arch/design.md", 14)


@given(st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_padding_fills_up(shown: str) -> None:
    """Padded text takes up just as many cells as were asked for, or its own."""
    shown = text.line(shown)

    assert max(40, text.width(shown)) == text.width(text.pad(shown, 40))
    assert text.pad(shown, 40, right=True).endswith(shown)


@pytest.mark.parametrize("shown", ["plain", "größe", "日本語", "ｈａｌｆ", "e\u0301", "한글", "🙂"])
def test_width_is_what_a_terminal_takes(shown: str) -> None:
    """The width agrees with that of a library made for it."""
    assert cell_len(unicodedata.normalize("NFC", shown)) == text.width(shown)
