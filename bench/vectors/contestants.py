"""Ways to find the 30 nearest of many vectors, each behind one call for one question."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning import VectorIndex
from twolaned.store.vector_file import VectorFile, VectorMap

Floats = NDArray[np.float32]
Numbers = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

N = 30


@dataclass(frozen=True)
class Built:
    """A search that is ready: question to numbers of vectors, best first.

    *allowed* says which vectors it may find, where it may not find all.
    """

    search: Callable[[Floats], Numbers]
    allowed: Mask | None = None


Build = Callable[[Floats, Path], Built]


def twolane(vectors: Floats, folder: Path, *, share: float = 1.0, dead: float = 0.0) -> Built:
    """The meaning lane over its file; *share* of the rows pass a filter, *dead* ones are gone."""
    count, dimensions = vectors.shape
    file = VectorFile.create(folder / "vectors", space="bench", dimensions=dimensions)
    for start in range(0, count, 10_000):
        file.append(np.asarray(vectors[start : start + 10_000]))
    file.close()
    rows = np.arange(count, dtype=np.uint32)
    source = VectorMap(folder / "vectors", space="bench", dimensions=dimensions)
    index = VectorIndex.empty("bench", dimensions).with_rows(rows, np.zeros_like(rows), source)
    rng = np.random.default_rng(1)
    live: Mask = np.asarray(rng.random(count) >= dead)
    index = index.without(rows[~live]) if dead else index
    mask: Mask | None = np.asarray(rng.random(count) < share) if share < 1 else None
    allowed = live if mask is None else live & mask
    return Built(lambda q: index.search(q, N, mask).rows, None if allowed.all() else allowed)


def numpy_product(vectors: Floats, _folder: Path) -> Built:
    """One matrix product and a partition."""

    def search(question: Floats) -> Numbers:
        scores = vectors @ question
        best = np.argpartition(scores, len(scores) - N)[-N:]
        return best[np.argsort(-scores[best])]

    return Built(search)


def simsimd_product(vectors: Floats, _folder: Path) -> Built:
    simsimd = import_module("simsimd")

    def search(question: Floats) -> Numbers:
        found: Floats = np.asarray(simsimd.cdist(question[np.newaxis], vectors, "cosine"))
        distances = found.ravel()
        best = np.argpartition(distances, N)[:N]
        return best[np.argsort(distances[best])]

    return Built(search)


def faiss_flat(vectors: Floats, _folder: Path) -> Built:
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    return Built(lambda q: index.search(q[np.newaxis], N)[1][0])


def faiss_hnsw(vectors: Floats, folder: Path, *, effort: int) -> Built:
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    kept = folder.parent / f"hnsw-{len(vectors)}-{vectors.shape[1]}.faiss"
    if kept.exists():
        index = faiss.read_index(str(kept))
    else:
        index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
        index.add(np.ascontiguousarray(vectors))
        faiss.write_index(index, str(kept))
    index.hnsw.efSearch = effort
    return Built(lambda q: index.search(q[np.newaxis], N)[1][0])


def usearch_hnsw(vectors: Floats, folder: Path, *, effort: int) -> Built:
    index = import_module("usearch.index").Index(
        ndim=vectors.shape[1], metric="cos", dtype="f16", expansion_search=effort
    )
    kept = folder.parent / f"hnsw-{len(vectors)}-{vectors.shape[1]}.usearch"
    if kept.exists():
        index.load(str(kept))
        index.expansion_search = effort
    else:
        index.add(np.arange(len(vectors)), np.ascontiguousarray(vectors), threads=1)
        index.save(str(kept))
    return Built(lambda q: index.search(q, N, threads=1).keys)


def lancedb_flat(vectors: Floats, folder: Path) -> Built:
    lancedb, pa = import_module("lancedb"), import_module("pyarrow")
    values = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    column = pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])
    rows = pa.table({"number": pa.array(np.arange(len(vectors))), "vector": column})
    table = lancedb.connect(str(folder / "lance")).create_table("vectors", rows)

    def search(question: Floats) -> Numbers:
        query = table.search(question).distance_type("cosine").select(["number", "_distance"])
        found: Numbers = query.limit(N).to_arrow()["number"].to_numpy()
        return found

    return Built(search)


def sqlite_vec_flat(vectors: Floats, folder: Path) -> Built:
    sqlite_vec = import_module("sqlite_vec")
    base = sqlite3.connect(folder / "vectors.sqlite")
    if not hasattr(base, "enable_load_extension"):
        raise ImportError("this Python's sqlite3 loads no extensions")
    base.enable_load_extension(True)
    sqlite_vec.load(base)
    base.execute(f"create virtual table v using vec0(e float[{vectors.shape[1]}])")
    rows = ((i, row.tobytes()) for i, row in enumerate(vectors))
    base.executemany("insert into v(rowid, e) values (?, ?)", rows)
    base.commit()
    ask = "select rowid from v where e match ? and k = ? order by distance"
    return Built(lambda q: np.array([r for (r,) in base.execute(ask, (q.tobytes(), N))]))


CONTESTANTS: dict[str, Build] = {
    "twolane": twolane,
    "twolane, a tenth dead": partial(twolane, dead=0.1),
    "twolane, filter 20 %": partial(twolane, share=0.2),
    "twolane, filter 1 %": partial(twolane, share=0.01),
    "numpy, exact product": numpy_product,
    "simsimd, exact": simsimd_product,
    "faiss Flat": faiss_flat,
    "faiss HNSW32, ef 64": partial(faiss_hnsw, effort=64),
    "faiss HNSW32, ef 256": partial(faiss_hnsw, effort=256),
    "usearch HNSW f16, ef 64": partial(usearch_hnsw, effort=64),
    "usearch HNSW f16, ef 256": partial(usearch_hnsw, effort=256),
    "LanceDB, flat": lancedb_flat,
    "sqlite-vec, flat": sqlite_vec_flat,
}

SLOW_TO_BUILD = ("faiss HNSW", "usearch HNSW", "sqlite-vec")
"""Names that begin so are left out above 200,000 vectors."""
