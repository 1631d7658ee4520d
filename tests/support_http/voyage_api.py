"""The embeddings endpoint of Voyage, as its reference documents it."""

from __future__ import annotations

import base64
import ssl

import numpy as np

from tests.support_http.server import HttpServer, Reply, Request
from tests.support_http.vectors import raw_vector

KEY = "pa-TheKeyThatMustNotBeSeen0123456789"

DEFAULT_DIMENSIONS = {"voyage-3-lite": 512, "voyage-3": 1024, "voyage-4-lite": 1024}
FLEXIBLE = {"voyage-4-lite"}
SIZES = (256, 512, 1024, 2048)
FIELDS = {
    "input",
    "model",
    "input_type",
    "truncation",
    "output_dimension",
    "output_dtype",
    "encoding_format",
}


class VoyageServer(HttpServer):
    """Checks requests as strictly as the service does."""

    def __init__(self, *, key: str = KEY, context: ssl.SSLContext | None = None) -> None:
        super().__init__(self._embeddings, context=context)
        self._key = key
        self.reject: str | None = None
        """A batch that holds this text is answered with 400."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def _embeddings(self, request: Request) -> Reply:
        if (request.method, request.path) != ("POST", "/v1/embeddings"):
            return Reply.of({"detail": "Not Found"}, 404)
        if request.headers.get("authorization") != f"Bearer {self._key}":
            return Reply.of({"detail": "Provided API key is invalid."}, 401)
        body = request.json
        detail = self._complaint(body)
        if detail:
            return Reply.of({"detail": detail}, 400)
        size = body["output_dimension"] or DEFAULT_DIMENSIONS[body["model"]]
        data = [
            {
                "object": "embedding",
                "embedding": _encoded(raw_vector(f"{body['input_type']}:{text}", size)),
                "index": index,
            }
            for index, text in enumerate(body["input"])
        ]
        tokens = sum(len(text.split()) for text in body["input"])
        return Reply.of(
            {
                "object": "list",
                "data": data,
                "model": body["model"],
                "usage": {"total_tokens": tokens},
            }
        )

    def _complaint(self, body: dict[str, object]) -> str:
        texts, model, size = body["input"], body["model"], body["output_dimension"]
        if set(body) - FIELDS:
            return f"Unknown arguments: {sorted(set(body) - FIELDS)}"
        if model not in DEFAULT_DIMENSIONS:
            return f"Model {model} is not supported."
        if body["encoding_format"] != "base64" or body["output_dtype"] not in (None, "float"):
            return "Another encoding was expected."
        if body["input_type"] not in (None, "query", "document"):
            return "input_type must be null, 'query' or 'document'."
        if size is not None and (model not in FLEXIBLE or size not in SIZES):
            return f"Value '{size}' supplied for argument 'output_dimension' is not valid."
        if not isinstance(texts, list) or not 1 <= len(texts) <= 1000:
            return "The batch must hold 1 to 1000 texts."
        if not all(isinstance(text, str) and text for text in texts):
            return "Input cannot contain empty strings."
        if self.reject is not None and self.reject in texts:
            return f"Input cannot be processed: {self.reject} {self._key}"
        return ""


def _encoded(vector: list[float]) -> str:
    return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()


def answer(vectors: list[list[float]]) -> Reply:
    """A well-formed answer with *vectors*, whatever they are."""
    data = [
        {"object": "embedding", "embedding": _encoded(vector), "index": index}
        for index, vector in enumerate(vectors)
    ]
    return Reply.of({"object": "list", "data": data, "model": "any", "usage": {"total_tokens": 1}})
