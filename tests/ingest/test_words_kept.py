"""Cutting out what nobody said takes no word that somebody did, and never takes long."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.formats.chatgpt import _without_marks
from twolaned.ingest.formats.claude_code_words import said
from twolaned.ingest.text import clean

REMINDER = "<system-reminder>do not tell</system-reminder>"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"Fix it.{REMINDER}", "Fix it."),
        (f"{REMINDER}Fix{REMINDER} it.", "Fix it."),
        ("What does <system-reminder> mean here?", "What does <system-reminder> mean here?"),
        ("Is <ide_selection> a tag?", "Is <ide_selection> a tag?"),
        ('<ide_selection file="a">x = 1</ide_selection>Why?', "Why?"),
        ("<system-reminder>cut off", ""),
    ],
)
def test_the_tools_elements_go_and_tags_that_a_person_names_stay(text: str, kept: str) -> None:
    assert said(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("See \ue200cite\ue202turn0search0\ue201. More.", "See . More."),
        ("See \ue200cite\ue202turn0 and all the rest", "See  and all the rest"),
        ("Cut at \ue200cite\ue202turn0sea", "Cut at"),
        (
            'In \ue200entity\ue202["place","Mont Saint-Michel"]\ue201 now',
            "In Mont Saint-Michel now",
        ),
        ("In \ue200entity\ue202[]\ue201 now", "In  now"),
        ("\ue200a\ue200b\ue201 c", "c"),
        ("Quoted【4:0†source】 here", "Quoted here"),
        ("An open【4:0†source is kept", "An open【4:0†source is kept"),
    ],
)
def test_marks_go_and_the_words_behind_them_stay(text: str, kept: str) -> None:
    assert _without_marks(text) == kept


@given(st.text("ab \ue200\ue201\ue202【】†1:", max_size=40))
def test_no_mark_is_left(text: str) -> None:
    found = _without_marks(f"{text}é")
    assert not set(found) & set("\ue200\ue201\ue202")


def test_words_after_an_image_stay() -> None:
    image = "data:image/png;base64,iVBORw0KGgo"
    line = "iVBORw0K" * 9
    assert clean(f"{image}\nimplementation_of_something works") == (
        "[image]\nimplementation_of_something works"
    )
    assert clean(f"{image}{line}\r\n{line}\r\n{line[:30]}==\r\nthen") == "[image]\nthen"


TIMES = 20_000


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        (_without_marks, "\ue200cite " * TIMES),
        (_without_marks, "【1†" * TIMES),
        (_without_marks, '\ue200entity\ue202["' * TIMES),
        (_without_marks, '\ue200entity\ue202["' + 'a",' * TIMES),
        (said, "<system-reminder>" * TIMES),
        (said, "<system-reminder " * TIMES + "</system-reminder>"),
        (said, "x<ide_selection>" * TIMES + "</ide_selection>"),
        (clean, ";base64," + "data:;a" * TIMES),
        (clean, "data:;base64," + ("\n" + "a" * 60) * TIMES),
    ],
    ids=range(9),
)
def test_text_that_is_meant_to_hurt_takes_no_longer(cut: Callable[[str], str], text: str) -> None:
    before = time.process_time()
    cut(text)
    assert time.process_time() - before < 2
