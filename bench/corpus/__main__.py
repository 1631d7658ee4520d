"""`python -m bench.corpus --conversations 7000 --out DIR`."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

from bench.corpus.build import FORMATS, CorpusBuilder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("--conversations", type=int, default=7_000)
    parser.add_argument("--documents", type=int, help="default: one for every 20 conversations")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--format", choices=FORMATS, default="mixed")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    given = parser.parse_args()
    documents = given.conversations // 20 if given.documents is None else given.documents
    start = time.perf_counter()
    builder = CorpusBuilder(given.out, seed=given.seed, form=given.format)
    summary = builder.build(given.conversations, documents, given.questions)
    print(json.dumps(asdict(summary)))
    print(f"{summary.characters / 1e6:.1f} M characters in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
