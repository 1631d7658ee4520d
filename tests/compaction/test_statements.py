from __future__ import annotations

import pytest

from tests.compaction.examples import MARCH, row, talk
from twolaned.compaction.statements import MOST_PER_CONVERSATION, sentences, statements_of
from twolaned.model.conversation import Role

LONG = "The ferry needs forty minutes to the outer island."

CHINESE = ["渡船到外岛需要四十分钟左右。", "我们决定改用新的时刻表了。"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{LONG} Yes! {LONG}", [LONG, LONG], id="fragments go"),
        pytest.param(f"```python\nx = a_long_name_of_something\n```\n{LONG}", [LONG], id="code"),
        pytest.param(f"```\nan open fence goes on to the very end\n{LONG}", [], id="open fence"),
        pytest.param(f"## {LONG}\n- **{LONG}**\n2. {LONG}", [LONG] * 3, id="markdown"),
        pytest.param(f"**At 05:30.** {LONG} **Why:** {LONG}", [LONG, f"Why: {LONG}"], id="bold"),
        pytest.param("| 1 | 22 | 333 | 4444 | 55555 | 666666 | 7777777 |", [], id="table"),
        pytest.param("".join(CHINESE), CHINESE, id="chinese"),
        pytest.param("word " * 100, [], id="endless"),
        pytest.param("", [], id="nothing"),
    ],
)  # fmt: skip
def test_sentences_that_can_stand_alone(text: str, expected: list[str]) -> None:
    """A digest quotes whole sentences and no code."""
    assert expected == list(sentences(text))


def test_statements_carry_link_date_and_speaker() -> None:
    """Each can be traced to its conversation."""
    draft = talk(LONG, f"It was decided to keep it. {LONG}")
    head = row(1, decisions=("Keep the old timetable until June.",))

    found = statements_of(head, draft.body.encode(), draft.messages)

    assert [
        ("Keep the old timetable until June.", MARCH, Role.ASSISTANT),
        (LONG, MARCH, Role.USER),
    ] == [(s.text, s.at, s.role) for s in found if "decided" not in s.text]
    assert {"conversation:claude:1"} == {s.key for s in found}
    assert found[0].weight > found[1].weight


def test_a_long_conversation_is_sampled() -> None:
    """One endless session must not make a digest slow."""
    draft = talk("\n".join(f"Sentence {n} says something about the ferry." for n in range(5_000)))

    found = statements_of(row(1), draft.body.encode(), draft.messages)

    assert MOST_PER_CONVERSATION == len(found)
    assert "Sentence 4983 says something about the ferry." == found[-1].text


def test_a_saved_note_speaks_too() -> None:
    """It has no messages, only a text; what was decided stands in both and counts once."""
    note = row(1, decisions=(LONG,))

    found = statements_of(note, f"The summary of a note is here.\n\n- {LONG}".encode(), ())

    assert {"The summary of a note is here.": 1.0, LONG: 1.5} == {s.text: s.weight for s in found}
