"""Terms of small commits, from their log to their place among all terms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.store import Store
from twolaned.writer.committer import Committer
from twolaned.writer.folding import TERMS_AT_ONCE, TermFolding

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.fixture
def store(tmp_path: Path):
    with_store = Store.open(tmp_path, write=True)
    yield with_store
    with_store.close()


def add(store: Store, sequence: int, terms: dict[str, int]) -> None:
    with store.change() as change:
        change.put_fresh_terms(sequence, terms)


def all_terms(store: Store) -> list[tuple[str, int]]:
    with store.view() as view:
        return list(view.terms())


def fold(store: Store, upto: int) -> int:
    folding = TermFolding(store)
    steps = 0
    while folding.step(upto):
        steps += 1
    return steps


def test_fresh_terms_are_found_like_all_others(store: Store) -> None:
    """By word and by prefix, in order, whichever commit they came with."""
    with store.change() as change:
        change.put_terms({"ferry": 0, "tide": 1})
    add(store, 3, {"ferries": 2, "zinc": 3})
    add(store, 4, {"anchor": 4})
    with store.view() as view:
        assert view.term_ids(["anchor", "ferry", "no", "zinc"]) == [4, 0, None, 3]
        assert list(view.terms_with_prefix("ferr")) == [("ferries", 2), ("ferry", 0)]
        assert [term for term, _ in view.terms()] == ["anchor", "ferries", "ferry", "tide", "zinc"]
        assert view.count_terms() == 5
    add(store, 9, {"ferrous": 5})
    with store.view() as view:
        assert view.term_ids(["ferrous"]) == [5]
        assert [n for _, n in view.terms_with_prefix("ferr")] == [2, 5, 0]


def test_an_aborted_commit_leaves_no_terms(store: Store) -> None:
    """What a change wrote and looked up before it failed is not found afterwards."""
    add(store, 1, {"kept": 0})
    with pytest.raises(RuntimeError):
        add_and_fail(store)
    with store.view() as view:
        assert view.term_ids(["kept", "lost"]) == [0, None]
    add(store, 2, {"won": 1})
    with store.view() as view:
        assert view.term_ids(["lost", "won"]) == [None, 1]


def add_and_fail(store: Store) -> None:
    with store.change() as change:
        change.put_fresh_terms(2, {"lost": 1})
        assert change.term_ids(["kept", "lost"]) == [0, 1]
        raise RuntimeError


def test_a_view_from_before_the_move_finds_the_same(store: Store) -> None:
    """Also beside later views, which find what came after the move too."""
    add(store, 1, {"first": 0})
    add(store, 2, {"second": 1})
    with store.view() as before:
        fold_in_other_thread(store, 1)
        with_later = all_terms_in_other_thread(store)
        assert before.term_ids(["first", "second"]) == [0, 1]
        assert list(before.terms()) == [("first", 0), ("second", 1)]
        assert with_later == [("first", 0), ("second", 1), ("third", 2)]
    assert all_terms(store) == with_later


def fold_in_other_thread(store: Store, upto: int) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(fold, store, upto).result() == 1
        pool.submit(add, store, 3, {"third": 2}).result()


def all_terms_in_other_thread(store: Store) -> list[tuple[str, int]]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(all_terms, store).result()


def test_many_terms_move_in_steps(store: Store) -> None:
    """Nothing is missing or there twice at any step, and in the end no term waits."""
    count = 2 * TERMS_AT_ONCE + 5
    add(store, 1, {f"word{n}": n for n in range(0, count, 2)})
    add(store, 2, {f"word{n}": n for n in range(1, count, 2)})
    add(store, 3, {"later": count})
    wanted = sorted([(f"word{n}", n) for n in range(count)] + [("later", count)])
    folding = TermFolding(store)
    steps = 0
    while folding.step(2):
        steps += 1
        assert all_terms(store) == wanted
    assert steps == 3
    with store.view() as view:
        assert view.fresh_terms(9) == [(b"later", count)]
        assert view.count_terms() == count + 1


@given(
    runs=st.lists(st.sets(WORDS, max_size=6), min_size=1, max_size=6), data=st.data(), asked=WORDS
)
@settings(max_examples=25, deadline=None)
def test_terms_do_not_depend_on_where_they_are(
    tmp_path_factory: pytest.TempPathFactory,
    runs: list[set[str]],
    data: st.DataObject,
    asked: str,
) -> None:
    """However far the move has got, a store gives the same terms, also once it is opened anew."""
    folder = tmp_path_factory.mktemp("store")
    store = Store.open(folder, write=True)
    numbers: dict[str, int] = {}
    for sequence, run in enumerate(runs, 1):
        new = {term: len(numbers) + at for at, term in enumerate(sorted(run - numbers.keys()))}
        numbers.update(new)
        add(store, sequence, new)
        if data.draw(st.booleans()):
            fold(store, data.draw(st.integers(0, sequence)))
        if data.draw(st.booleans()):
            store.close()
            store = Store.open(folder, write=True)
        with store.view() as view:
            assert dict(view.terms()) == numbers
            begun = {(t, n) for t, n in numbers.items() if t.startswith(asked[:1])}
            assert set(view.terms_with_prefix(asked[:1])) == begun
            assert view.term_ids([asked, *numbers]) == [numbers.get(asked), *numbers.values()]
    store.close()


def test_no_number_is_given_twice_after_a_crash(tmp_path: Path) -> None:
    """Terms of rows that were never published keep their numbers."""
    store = Store.open(tmp_path, write=True)
    add(store, 1, {f"saved{n}": n for n in range(50)})
    with store.change() as change:
        change.put_terms({"staged": 50, "too": 51})
    store.close()
    store = Store.open(tmp_path, write=True)
    committer = Committer(store, lambda _: None)
    assert committer.vocabulary.ids(["new"]) == [52]
    store.close()
