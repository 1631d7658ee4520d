from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.embedding.batches import batches
from twolaned.embedding.provider import BatchLimits


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("aé北😀", max_size=8), max_size=40),
    st.integers(1, 6),
    st.integers(1, 20),
)
def test_batches_cover_all_texts_within_the_limits(
    texts: list[str], most: int, most_bytes: int
) -> None:
    """In order, none twice; only a text that is too long by itself goes over, alone; and no two
    neighbours would have fitted into one."""
    limits = BatchLimits(texts=most, bytes=most_bytes)
    spans = list(batches(texts, limits))
    sizes = [sum(len(texts[index].encode()) for index in span) for span in spans]

    assert list(range(len(texts))) == [index for span in spans for index in span]
    for span, size in zip(spans, sizes, strict=True):
        assert 1 <= len(span) <= most
        assert size <= most_bytes or len(span) == 1
    for before, after, size in zip(spans, spans[1:], sizes, strict=False):
        first = len(texts[after.start].encode())
        assert len(before) == most or size + first > most_bytes


def test_a_huge_import_is_split() -> None:
    """A thousand passages of 1,000 characters go out in batches of at most 128."""
    texts = ["x" * 1_000] * 1_000

    spans = list(batches(texts, BatchLimits(texts=128, bytes=120_000)))

    assert 120 == len(spans[0])
    assert 9 == len(spans)
