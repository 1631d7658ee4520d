"""The ollama client, kept to the one host it was given. Heavy to import."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import httpx
import ollama

from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.http_failure import REJECTED, status_error
from twolaned.embedding.provider import BatchLimits
from twolaned.model.embedding import FailureReason

CONNECT_SECONDS = 5.0

T = TypeVar("T")

# It writes a line for every request.
logging.getLogger("httpx").setLevel(logging.WARNING)


class OllamaClient:
    """Calls ``/api/embed`` and ``/api/show`` and says what went wrong in our words.

    Proxies of the environment are not used and redirects are not followed: either would carry
    texts to another machine.
    """

    def __init__(self, url: str, *, limits: BatchLimits) -> None:
        transport = httpx.AsyncHTTPTransport(trust_env=False)
        timeout = httpx.Timeout(limits.seconds, connect=CONNECT_SECONDS)
        self._client = ollama.AsyncClient(
            url,
            transport=transport,
            timeout=timeout,
            trust_env=False,
            follow_redirects=False,
            event_hooks={"response": [_refuse_failures]},
        )
        # The library's own ``show`` drops the fields that say where a model runs.
        self._plain = httpx.AsyncClient(
            base_url=url,
            transport=transport,
            timeout=timeout,
            trust_env=False,
            event_hooks={"response": [_refuse_failures]},
        )

    async def embed(
        self, texts: list[str], *, model: str, dimensions: int | None, keep_alive: str
    ) -> Sequence[Sequence[float]]:
        """What the server answers for *texts*, unchecked. Raises EmbeddingError."""

        async def call() -> Sequence[Sequence[float]]:
            answer = await self._client.embed(
                model=model,
                input=texts,
                truncate=True,
                keep_alive=keep_alive,
                dimensions=dimensions,
            )
            return answer.embeddings

        return await _explained(call)

    async def show(self, model: str) -> Mapping[str, object]:
        """What the server knows of *model*. Raises EmbeddingError."""

        async def call() -> Mapping[str, object]:
            shown = (await self._plain.post("api/show", json={"model": model})).json()
            if not isinstance(shown, dict):
                raise TypeError
            return shown

        return await _explained(call)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()  # type: ignore[no-untyped-call]
        await self._plain.aclose()


async def _refuse_failures(response: httpx.Response) -> None:
    """Raise for a status that is no success, while the headers are at hand."""
    if response.status_code >= 300:
        raise status_error(
            response.status_code,
            response.headers,
            provider="Ollama",
            hints={
                307: "its address sends elsewhere",
                404: "it has no such model; fetch it with `ollama pull`",
            },
            # One text of which a model makes numbers that JSON has no words for fails its batch.
            isolate=REJECTED | {500},
        )


async def _explained(call: Callable[[], Awaitable[T]]) -> T:
    try:
        try:
            return await call()
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # A server may close an idle connection in the moment in which it is used again.
            return await call()
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
        raise _failure("closed the connection before its answer was complete") from None
    except httpx.TimeoutException:
        raise EmbeddingError(FailureReason.TIMEOUT, "Ollama took too long to answer.") from None
    except (ConnectionError, httpx.TransportError):
        raise EmbeddingError(
            FailureReason.PROVIDER_UNREACHABLE,
            "Ollama cannot be reached: check that it is running, with `ollama serve`.",
        ) from None
    except (httpx.HTTPError, AttributeError, KeyError, TypeError, ValueError):
        raise _failure("answered with something that is no embedding") from None


def _failure(what: str) -> EmbeddingError:
    return EmbeddingError(FailureReason.PROVIDER_ERROR, f"Ollama {what}.")
