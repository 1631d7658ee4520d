"""``/api/embed`` and ``/api/show`` of Ollama, as its reference documents them."""

from __future__ import annotations

import math

from tests.support_http.server import HttpServer, Reply, Request
from tests.support_http.vectors import raw_vector

FIELDS = {"model", "input", "truncate", "options", "keep_alive", "dimensions"}


class OllamaServer(HttpServer):
    """Has *models*, by name, each with its dimensions; ``remote`` says which run elsewhere."""

    def __init__(self, models: dict[str, int] | None = None, *, host: str = "127.0.0.1") -> None:
        super().__init__(self._answer, host=host)
        self.models = {"nomic-embed-text": 768} if models is None else models
        self.remote: dict[str, str] = {}
        self.unencodable: str | None = None
        """A batch that holds this text makes a number that JSON has no words for."""

    @property
    def embeds(self) -> list[Request]:
        return [r for r in self.requests if r.path == "/api/embed"]

    @property
    def shows(self) -> list[Request]:
        return [r for r in self.requests if r.path == "/api/show"]

    def _answer(self, request: Request) -> Reply:
        if request.method != "POST":
            return Reply(405, b"method not allowed", content_type="text/plain")
        body = request.json
        size = self.models.get(body.get("model", ""))
        if size is None:
            return Reply.of({"error": f"model '{body.get('model')}' not found"}, 404)
        match request.path:
            case "/api/embed":
                return self._embed(body, size)
            case "/api/show":
                return self._show(body["model"], size)
        return Reply(404, b"404 page not found", content_type="text/plain")

    def _embed(self, body: dict[str, object], size: int) -> Reply:
        texts = body["input"]
        assert isinstance(texts, list)
        if set(body) - FIELDS:
            return Reply.of({"error": "unknown field"}, 400)
        if any(self.unencodable is not None and self.unencodable in text for text in texts):
            message = "failed to encode response: json: unsupported value: NaN"
            return Reply.of({"error": message}, 500)
        asked = body.get("dimensions")
        vectors = []
        for text in texts:
            raw = raw_vector(text, size)[: asked if isinstance(asked, int) else size]
            length = math.sqrt(sum(x * x for x in raw))
            vectors.append([x / length for x in raw])
        return Reply.of(
            {
                "model": body["model"],
                "embeddings": vectors,
                "total_duration": 14_143_917,
                "load_duration": 1_019_500,
                "prompt_eval_count": 8,
            }
        )

    def _show(self, model: str, size: int) -> Reply:
        shown: dict[str, object] = {
            "modelfile": f"FROM {model}",
            "details": {"format": "gguf", "family": "nomic-bert", "families": ["nomic-bert"]},
            "model_info": {"nomic-bert.embedding_length": size},
            "capabilities": ["embedding"],
            "modified_at": "2026-08-14T15:49:43.634137516-07:00",
        }
        if model in self.remote:
            shown |= {"remote_model": model, "remote_host": self.remote[model]}
        return Reply.of(shown)
