"""Engines that are compared: each builds an index of a corpus and returns how to ask it.

All have BM25 with k1 = 0.9 and b = 0.4 where they let it be set, and return the best 30.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench.keyword import ours
from bench.keyword.data import VOCABULARY, Corpus, words
from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.index import KeywordIndex
from twolaned.lanes.keyword.query import KeywordQuery

N = 30
PASSAGES_A_ROW = 8

Ask = Callable[[list[int]], Any]


@dataclass(frozen=True)
class Built:
    """How to ask, and the bytes of the index where they are not those of its folder."""

    ask: Ask
    size: int | None = None


def twolane(corpus: Corpus, folder: Path) -> Built:
    """One segment; every passage is a row of its own."""
    return _ours(corpus, folder, 1)


def twolane_rows(corpus: Corpus, folder: Path) -> Built:
    """One segment; 30 distinct rows of `PASSAGES_A_ROW` passages each."""
    return _ours(corpus, folder, PASSAGES_A_ROW)


def _ours(corpus: Corpus, folder: Path, passages_a_row: int) -> Built:
    bm25 = ours.bm25_of(corpus)
    segment = folder / "segment"
    ours.write_segment(segment, corpus, 0, len(corpus.lengths), bm25, passages_a_row)
    index = ours.with_segment(KeywordIndex.empty(bm25), segment)
    return Built(lambda terms: index.search(KeywordQuery(tuple(terms)), N))


def tantivy(corpus: Corpus, folder: Path) -> Built:
    """Frequencies without positions, one thread."""
    import tantivy as engine

    schema = (
        engine.SchemaBuilder()
        .add_text_field("body", stored=False, tokenizer_name="whitespace", index_option="freq")
        .build()
    )
    index = engine.Index(schema, path=str(folder))
    writer = index.writer(heap_size=512_000_000, num_threads=1)
    for text in texts(corpus):
        writer.add_document(engine.Document(body=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, names = index.searcher(), words()

    def ask(terms: list[int]) -> Any:
        parts = [engine.Query.term_query(schema, "body", names[t], "freq") for t in terms]
        if len(parts) == 1:
            return searcher.search(parts[0], N, count=False).hits
        query = engine.Query.boolean_query([(engine.Occur.Should, part) for part in parts])
        return searcher.search(query, N, count=False).hits

    return Built(ask)


def bm25s(corpus: Corpus, folder: Path) -> Built:  # noqa: ARG001
    """Scores of all postings in memory, numba. Its matrix is filled from our inversion."""
    import bm25s as engine

    count = len(corpus.lengths)
    bm25: Bm25 = ours.bm25_of(corpus)
    batch = ours.postings_of(corpus, 0, count)
    norms = bm25.norms(batch.lengths)
    df = batch.frequencies
    idf = np.log(1 + (count - df + 0.5) / (df + 0.5)).astype(np.float32)
    data = batch.tf.astype(np.float32)
    data /= data + norms[batch.passages]
    data *= np.repeat(idf, df)
    by_term = np.zeros(VOCABULARY, np.int64)
    by_term[batch.terms] = df
    retriever = engine.BM25(method="lucene", k1=bm25.k1, b=bm25.b, backend="numba")
    retriever.scores = {
        "data": data,
        "indices": batch.passages.astype(np.int32),
        "indptr": np.concatenate([[0], np.cumsum(by_term)]).astype(np.int32),
        "num_docs": count,
    }
    retriever.unique_token_ids_set = set(range(VOCABULARY))
    retriever.vocab_dict = {str(term): term for term in range(VOCABULARY)}
    retriever.nonoccurrence_array = None
    retriever.corpus = None

    def ask(terms: list[int]) -> Any:
        return retriever.retrieve(
            [terms], k=N, show_progress=False, n_threads=0, backend_selection="auto"
        )

    scores = retriever.scores
    return Built(ask, sum(scores[part].nbytes for part in ("data", "indices", "indptr")))


def fts5(corpus: Corpus, folder: Path) -> Built:
    """SQLite, without contents and positions, optimized. Its k1 and b are fixed at 1.2 and 0.75."""
    database = sqlite3.connect(folder / "fts5.db", isolation_level=None)
    for setting in ("journal_mode=off", "cache_size=-200000", "mmap_size=4000000000"):
        database.execute(f"pragma {setting}")
    database.execute(
        "create virtual table t using fts5(body, content='', detail='none', tokenize='ascii')"
    )
    database.execute("begin")
    database.executemany("insert into t(rowid, body) values (?, ?)", enumerate(texts(corpus)))
    database.execute("commit")
    database.execute("insert into t(t) values ('optimize')")
    names = words()

    def ask(terms: list[int]) -> Any:
        query = " OR ".join(names[term] for term in terms)
        return database.execute(
            "select rowid, bm25(t) from t where t match ? order by rank limit ?", (query, N)
        ).fetchall()

    return Built(ask)


def lancedb(corpus: Corpus, folder: Path) -> Built:
    """Its index of words, without positions."""
    import lancedb as engine
    import pyarrow as pa
    from lancedb.query import MatchQuery

    def batches() -> Iterator[Any]:
        pending: list[str] = []
        for text in texts(corpus):
            pending.append(text)
            if len(pending) == 20_000:
                yield pa.record_batch({"body": pending})
                pending = []
        if pending:
            yield pa.record_batch({"body": pending})

    schema = pa.schema([("body", pa.string())])
    table = engine.connect(str(folder)).create_table("t", batches(), schema=schema)
    table.create_fts_index(
        "body", use_tantivy=False, base_tokenizer="whitespace", with_position=False, stem=False,
        remove_stop_words=False, ascii_folding=False, lower_case=False,
    )  # fmt: skip
    names = words()

    def ask(terms: list[int]) -> Any:
        query = MatchQuery(" ".join(names[term] for term in terms), "body")
        return table.search(query).with_row_id(True).select(["_score"]).limit(N).to_arrow()

    return Built(ask)


def texts(corpus: Corpus) -> Iterator[str]:
    """The passages as text."""
    names, starts = words(), corpus.starts.tolist()
    for first, last in pairwise(starts):
        yield " ".join([names[term] for term in corpus.tokens[first:last].tolist()])


CONTESTANTS: dict[str, Callable[[Corpus, Path], Built]] = {
    "twolane": twolane,
    "twolane, 30 rows": twolane_rows,
    "tantivy": tantivy,
    "bm25s (numba)": bm25s,
    "SQLite FTS5": fts5,
    "LanceDB": lancedb,
}
