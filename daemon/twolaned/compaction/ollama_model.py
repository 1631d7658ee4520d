"""A language model that an Ollama server runs. Heavy to import."""

from __future__ import annotations

import logging
from contextlib import closing

import httpx
import ollama

from twolaned.compaction.enrichment import EnrichmentFailed
from twolaned.embedding.endpoint import Endpoint
from twolaned.embedding.ollama_models import is_local_model

DEFAULT_MODEL = "llama3.2"
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 300.0
"""A model on a slow processor writes a few words a second, and may have to be loaded first."""
CONTEXT_TOKENS = 8_192

# It writes a line for every request.
logging.getLogger("httpx").setLevel(logging.WARNING)


class OllamaModel:
    """Asks *model* on the server at *endpoint*, one call at a time.

    With *local_only* it asks nothing of a server that is not on loopback or of a model that does
    not run there. Proxies of the environment are not used and redirects are not followed: either
    would carry texts to another machine.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str = "",
        *,
        local_only: bool = False,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._endpoint = endpoint
        self._model = model or DEFAULT_MODEL
        self._local_only = local_only
        self._timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))

    def answer(self, prompt: str, material: str, shape: dict[str, object]) -> str:
        """What the model answers, JSON of the JSON schema *shape*. Raises EnrichmentFailed."""
        try:
            if self._local_only:
                self._require_local()
            client = ollama.Client(
                self._endpoint.url, timeout=self._timeout, trust_env=False, follow_redirects=False
            )
            with closing(client):
                answer = client.chat(
                    self._model,
                    [
                        {"role": "system", "content": prompt},
                        {"role": "user", "content": material},
                    ],
                    format=shape,
                    options={"temperature": 0, "seed": 0, "num_ctx": CONTEXT_TOKENS},
                )
        except ollama.ResponseError as e:
            if e.status_code == 404:
                raise EnrichmentFailed(
                    f"Ollama has no model {self._model}; fetch it with `ollama pull {self._model}`"
                ) from None
            raise EnrichmentFailed(f"Ollama refused (HTTP {e.status_code})") from None
        except httpx.TimeoutException:
            raise EnrichmentFailed("Ollama took too long to answer") from None
        except (ConnectionError, httpx.TransportError):
            raise EnrichmentFailed("Ollama cannot be reached; is `ollama serve` running?") from None
        except (httpx.HTTPError, ValueError, TypeError, AttributeError):
            raise EnrichmentFailed("Ollama answered with something that is no chat") from None
        return answer.message.content or ""

    def _require_local(self) -> None:
        if not self._endpoint.on_loopback or not is_local_model(self._model):
            raise EnrichmentFailed("the model does not run on this machine")
        # The library's own ``show`` drops the fields that say where a model runs.
        with httpx.Client(timeout=self._timeout, trust_env=False) as plain:
            reply = plain.post(f"{self._endpoint.url}/api/show", json={"model": self._model})
            if reply.status_code == 404:
                raise EnrichmentFailed(
                    f"Ollama has no model {self._model}; fetch it with `ollama pull {self._model}`"
                )
            reply.raise_for_status()
            shown = reply.json()
        if not isinstance(shown, dict) or not is_local_model(self._model, shown):
            raise EnrichmentFailed("the model does not run on this machine")
