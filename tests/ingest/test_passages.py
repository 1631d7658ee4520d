from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from twolaned.ingest.boundaries import Boundaries
from twolaned.ingest.passages import LONGEST, SHORTEST, Cut, cut_passages

WORDS = "the ferry left its berth before the tide had turned and nobody had signed for it".split()


def prose(words: int) -> str:
    return " ".join(WORDS[i % len(WORDS)] for i in range(words))


def cuts(text: str, **options: object) -> list[str]:
    boundaries = Boundaries(text, **options)  # type: ignore[arg-type]
    return [text[c.start : c.end] for c in cut_passages(text, 0, len(text), boundaries)]


@given(
    st.text(alphabet=st.sampled_from("ab .\n#`é漢語👩🏽‍🚀\u0301\u200d\t"), max_size=6_000)
    | st.text(max_size=3_000)
)
def test_passages_hold_every_word_in_order_and_stay_in_bounds(text: str) -> None:
    found: list[Cut] = list(cut_passages(text, 0, len(text), Boundaries(text)))
    at = 0
    for cut in found:
        assert not text[at : cut.start].strip()
        assert cut.start < cut.end
        assert cut.end - cut.start <= LONGEST
        assert text[cut.start : cut.end] == text[cut.start : cut.end].strip()
        at = cut.end
    assert not text[at:].strip()


def test_a_short_text_is_one_passage() -> None:
    assert cuts("  just this  ") == ["just this"]
    assert cuts(" \n\t ") == []


def test_passages_are_even() -> None:
    text = prose(2_000)
    sizes = [len(part) for part in cuts(text)]
    assert min(sizes) >= SHORTEST - 1
    assert max(sizes) <= LONGEST
    assert max(sizes) - min(sizes) < 350


def test_a_heading_is_the_first_choice() -> None:
    text = f"{prose(170)}\n\n{prose(20)}\n\n## Mooring\n\n{prose(200)}"
    assert cuts(text)[1].startswith("## Mooring")


def test_a_paragraph_comes_before_a_sentence() -> None:
    text = f"{prose(120)}. {prose(30)}.\n\n{prose(40)}. {prose(160)}."
    first, second = cuts(text)
    assert first.endswith(".")
    assert second == f"{prose(40)}. {prose(160)}."
    assert first == f"{prose(120)}. {prose(30)}."


def test_a_turn_comes_before_all() -> None:
    first, second = f"{prose(60)}\n\n## Not here\n\n{prose(90)}", prose(160)
    text = f"{first}\n\n{second}"
    assert cuts(text, turns=(len(first) + 2,)) == [first, second]


def test_code_between_fences_stays_together_where_it_can() -> None:
    code = "```python\n" + "\n\n".join(f"value_{i} = {i}" for i in range(30)) + "\n```"
    text = f"{prose(160)}\n\n{code}\n\n{prose(160)}"
    assert sum("```python" in part and part.count("```") == 2 for part in cuts(text)) == 1


def test_a_hash_in_code_is_no_heading() -> None:
    lines = [f"    step_{i}()" for i in range(60)]
    lines[50] = "# not a heading, a comment"
    text = "\n".join([*lines, "", "def after():", *lines])
    found = cuts(text, headings=False)
    assert any(part.startswith("def after()") for part in found)


def test_no_cut_inside_a_character_as_people_see_it() -> None:
    family = "👩🏽‍🚀"
    text = family * 1_500
    for part in cuts(text):
        assert part.startswith("👩")
        assert part.endswith("🚀")
    accented = "e\u0301" * 3_000
    for part in cuts(accented):
        assert not unicodedata.combining(part[0])
