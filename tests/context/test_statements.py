from __future__ import annotations

import itertools
import re
import tomllib
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned import context
from twolaned.context.statements import StatementKind, statements
from twolaned.lanes.keyword.analyzer import fold

DECISION, CONSTRAINT = StatementKind.DECISION, StatementKind.CONSTRAINT
RULE, TODO = StatementKind.RULE, StatementKind.TODO


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to keep the queue in Postgres.", DECISION),
        ("Let's go with the smaller model.", DECISION),
        ("Decision: one daemon per data folder", DECISION),
        ("We now use UTC instead of local time.", DECISION),
        ("Wir haben uns für Postgres entschieden.", DECISION),
        ("Nous avons choisi Postgres pour la file.", DECISION),
        ("我们决定把队列放在数据库里。", DECISION),
        ("The reply must not exceed 2 MiB.", CONSTRAINT),
        ("Constraint: works without a network", CONSTRAINT),
        ("At most nine seats can be reserved.", CONSTRAINT),
        ("Always run the linter before a commit.", RULE),
        ("Prefer small modules over large ones.", RULE),
        ("Please use tabs in makefiles.", RULE),
        ("- [ ] Write the migration guide", TODO),
        ("TODO: remove the old endpoint", TODO),
    ],
)
def test_a_statement_is_known_by_its_words(text: str, kind: StatementKind) -> None:
    """A word, a label or a box says what it is."""
    (found,) = statements(text)

    assert kind is found.kind


@pytest.mark.parametrize(
    "text",
    [
        "Should we decide this today?",
        "```\nWe decided to write code.\n```",
        "> We decided to quote somebody.",
        "The queue holds orders.",
        "mustard and curious neverland",
        "ok",
        "We decided " + "and talked about it at length " * 40 + ".",
    ],
)
def test_what_states_nothing_is_left_out(text: str) -> None:
    """Questions, code, quotations, plain prose, parts of words and long prose are none."""
    assert statements(text) == []


def test_a_heading_says_what_its_items_are() -> None:
    """Items under ``Decisions`` need no word of their own; the next heading ends that."""
    text = "## Decisions\n\n- Postgres for the queue\n\n## Thanks\n\n- To all our users\n"

    (found,) = statements(text)

    assert (DECISION, "Postgres for the queue", "Decisions") == (
        found.kind,
        found.text,
        found.heading,
    )


def test_dates_labels_and_strokes_are_noted() -> None:
    """The day stands with a statement or in the heading above it; a crossed out one is marked."""
    text = (
        "## 2026-02-03 Decisions\n\n- Database: Postgres 16\n- ~~Cache: Redis 7~~\n"
        "- 2026-04-05: Mail goes through a relay\n"
    )

    first, second, third = statements(text)

    assert ("2026-02-03", "Database") == (first.date, first.subject)
    assert second.struck
    assert "2026-04-05" == third.date


def test_wrapped_lines_are_one_statement() -> None:
    """A sentence that goes on in the next line is quoted with its line break."""
    text = "Some words. We decided to move the queue\nto Postgres. More words.\n"

    (found,) = statements(text)

    assert "We decided to move the queue\nto Postgres." == found.text


@given(st.text(max_size=300))
def test_a_statement_stands_in_its_text(text: str) -> None:
    """Word for word, in order, and no statement overlaps another."""
    found = statements(text)

    assert all(text[s.start : s.end] == s.text for s in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


PIECES = st.sampled_from(
    ["We decided ", "must ", "\n", "\n\n", "- ", "- [ ] ", "# ", "```\n", "> ", ". ", "é", "queue "]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_a_statement_stands_in_text_with_structure(text: str) -> None:
    """The same with lists, headings and fences in all orders."""
    found = statements(text)

    assert all(text[s.start : s.end] == s.text for s in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


TABLES = tomllib.loads(
    files(context).joinpath("statement_words.toml").read_text(encoding="utf-8")
).values()
LETTERS = st.characters(max_codepoint=0x4FF)
SIGNS = {word for table in TABLES for word in table["signs"]}
WORDS = [words for table in TABLES for words in table["words"]]


@settings(max_examples=10, deadline=None)
@given(st.data())
@pytest.mark.parametrize("words", WORDS)
def test_whatever_words_match_holds_a_sign(words: str, data: st.DataObject) -> None:
    """No statement is passed over because a sign is missing in the list."""
    said = data.draw(st.from_regex(re.compile(words), fullmatch=True, alphabet=LETTERS))

    assert not SIGNS.isdisjoint(re.findall(r"\w+", fold(said)))


@pytest.mark.parametrize(
    "text",
    [
        "Intro:\n\nThe cache is fast. It mustn't grow.",
        "Much is said here; **and** much is not, but we'll keep Redis. Fine.",
        "- the port is open\n- let’s use 8080",
        "    indented, and you should never do it",
        "缓存很快。我们决定保留它。然后",
    ],
)
def test_one_statement_among_other_words(text: str) -> None:
    """What is passed over quickly hides nothing beside it."""
    (found,) = statements(text)

    assert found.text in text
    assert len(found.text) < len(text)
