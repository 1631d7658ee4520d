"""Many texts to term numbers at once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.lanes.keyword.analyzer import analyze
from twolaned.lanes.keyword.tokenizer import BatchTokenizer

TEXTS = st.lists(st.text() | st.sampled_from(["a b a", "parseConfig", "検索 x", "ÿ\xff", ""]))


class Terms:
    """Numbers terms as they come, and remembers how often it was asked."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.calls = 0

    def ids(self, terms: Sequence[str], /) -> list[int]:
        self.calls += 1
        return [self.numbers.setdefault(term, 7 * len(self.numbers)) for term in terms]


def tokenized(tokenizer: BatchTokenizer, terms: Terms, texts: list[str]) -> list[list[str]]:
    batch = tokenizer.tokenize(texts)
    names = {number: term for term, number in terms.numbers.items()}
    ids = batch.term_ids.tolist()
    found, at = [], 0
    for length in batch.lengths.tolist():
        found.append([names[number] for number in ids[at : at + length]])
        at += length
    assert at == len(ids)
    return found


@settings(deadline=None)
@given(TEXTS)
def test_a_batch_gives_what_the_analyzer_gives(texts: list[str]) -> None:
    terms = Terms()
    assert tokenized(BatchTokenizer(terms), terms, texts) == [analyze(text) for text in texts]


@pytest.mark.parametrize("bounds", [{"kept_pieces": 1}, {"kept_bytes": 1}, {}])
@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_what_is_remembered_or_forgotten_changes_nothing(
    bounds: dict[str, int], batches: list[list[str]]
) -> None:
    terms = Terms()
    tokenizer = BatchTokenizer(terms, **bounds)
    for texts in batches:
        assert tokenized(tokenizer, terms, texts) == [analyze(text) for text in texts]


def test_no_texts() -> None:
    batch = BatchTokenizer(Terms()).tokenize([])
    assert len(batch.term_ids) == len(batch.lengths) == 0


def test_the_vocabulary_is_asked_once_a_batch_and_only_for_what_is_new() -> None:
    terms = Terms()
    tokenizer = BatchTokenizer(terms)
    tokenizer.tokenize(["one two three", "two three four"])
    tokenizer.tokenize(["four three two one"])
    assert terms.calls == 1
