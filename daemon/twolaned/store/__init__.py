"""What is kept, and how does it survive?

One LMDB environment holds rows, texts, terms, the commit log and the manifest; each sealed segment
is an environment of its own, written once and never changed.
"""

from twolaned.store.store import Store
from twolaned.store.view import View

__all__ = ["Store", "View"]
