from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.compaction.examples import said
from twolaned.compaction.central import most_central

ABOUT = [
    said("The ferry timetable moves to the new queue in June.", 1),
    said("Retry the ferry timetable queue when the harbour is closed.", 2),
    said("The ferry queue and its timetable need a harbour pilot.", 3),
]
ASIDE = said("My cousin bakes excellent almond biscuits on Sundays.", 4)


def test_what_most_say_comes_first() -> None:
    """An aside that nothing else touches is the last to be taken."""
    assert ASIDE not in most_central([ASIDE, *ABOUT], 3)


def test_repetitions_are_left_out() -> None:
    """The same sentence in ten conversations stands in a digest once."""
    copies = [said(ABOUT[0].text, of) for of in range(10, 20)]

    chosen = most_central([*copies, *ABOUT], 12)

    assert 1 == sum(s.text == ABOUT[0].text for s in chosen)


def test_no_conversation_takes_all_the_room() -> None:
    """A week is more than its longest session."""
    chatter = [
        said(f"The ferry timetable queue number {n} waits at berth {n}.", 9) for n in range(50)
    ]

    chosen = most_central([*chatter, *ABOUT], 6)

    assert {s.key for s in ABOUT} < {s.key for s in chosen}


WORDS = st.lists(st.sampled_from("ferry queue tide berth pilot cargo".split()), min_size=1)
SAID = st.builds(said, WORDS.map(" ".join), st.integers(1, 4), st.integers(0, 9))


@given(st.lists(SAID, max_size=20), st.integers(1, 15), st.randoms(use_true_random=False))
def test_the_choice_depends_on_nothing_but_the_statements(
    statements: list, count: int, random
) -> None:
    """A dry run says what a run will write, in whatever order rows are read."""
    shuffled = statements.copy()
    random.shuffle(shuffled)
    chosen = most_central(statements, count)

    assert chosen == most_central(shuffled, count)
    assert len(chosen) <= count
    assert all(s in statements for s in chosen)
    assert bool(chosen) == bool(statements)
