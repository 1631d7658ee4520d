"""What is the vector of this text?

Providers that make vectors, the gate that says which of them may see a text, a cache so that none
is made twice, and what keeps a slow or broken provider from holding up a search.
"""

from twolaned.embedding.cache import CacheBackend, LruCache
from twolaned.embedding.embedder import Embedder
from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.factory import Embedders, EmbeddingPlan, off_because
from twolaned.embedding.gate import PrivacyGate, PrivacyViolation
from twolaned.embedding.key import ApiKey, load_key
from twolaned.embedding.loop_thread import LoopThread
from twolaned.embedding.passages import PassageVectors
from twolaned.embedding.state import ProviderState

__all__ = [
    "ApiKey",
    "CacheBackend",
    "Embedder",
    "Embedders",
    "EmbeddingError",
    "EmbeddingPlan",
    "LoopThread",
    "LruCache",
    "PassageVectors",
    "PrivacyGate",
    "PrivacyViolation",
    "ProviderState",
    "load_key",
    "off_because",
]
