"""The voyageai client, kept on one HTTP session. Heavy to import."""

from __future__ import annotations

import binascii
import logging
import os
import ssl
from collections.abc import Sequence
from urllib.request import getproxies, proxy_bypass

import aiohttp
import voyageai
from voyageai import error as voyage_error
from voyageai import util as voyage_util
from voyageai.client_async import AsyncClient
from yarl import URL

from twolaned.embedding.error import EmbeddingError
from twolaned.embedding.http_failure import status_error
from twolaned.embedding.key import ApiKey
from twolaned.embedding.provider import BatchLimits
from twolaned.model.embedding import FailureReason

CONNECT_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 300.0
"""How long a connection waits for the next question. A server that closes sooner is noticed."""
LARGEST_ANSWER = 64 << 20
"""Bytes. The largest batch's vectors take less than a tenth."""

_HINTS = {
    400: "check embedding.model and embedding.output_dimension",
    401: "check VOYAGE_API_KEY or the key file",
    402: "check the account's billing",
    403: "check what the key is allowed",
    404: "check embedding.base_url",
    422: "check embedding.model and embedding.output_dimension",
}

# At DEBUG the library's logger writes whole requests, and with them the person's texts.
logging.getLogger("voyage").setLevel(logging.WARNING)


class VoyageClient:
    """Calls the embeddings endpoint and says what went wrong in our words."""

    def __init__(
        self,
        key: ApiKey,
        *,
        base_url: str | None,
        limits: BatchLimits,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._client = AsyncClient(
            api_key=key.reveal(), max_retries=0, timeout=limits.seconds, base_url=base_url
        )
        url = base_url or voyage_util.get_default_base_url(key.reveal())
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                keepalive_timeout=KEEP_ALIVE_SECONDS, ttl_dns_cache=300, ssl=context or True
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy_for(url),
            response_class=_BoundedResponse,
            trace_configs=[_no_redirects()],
        )

    async def embed(
        self, texts: list[str], *, model: str, input_type: str, dimensions: int | None
    ) -> Sequence[Sequence[float]]:
        """What the service answers for *texts*, unchecked. Raises EmbeddingError."""
        try:
            return await self._call(texts, model, input_type, dimensions)
        except _ConnectionLost:
            # A server may close an idle connection in the moment in which it is used again.
            # Making vectors twice does no harm, so a fresh connection is tried, once.
            try:
                return await self._call(texts, model, input_type, dimensions)
            except _ConnectionLost:
                raise _unreachable("closed the connection without an answer") from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def _call(
        self, texts: list[str], model: str, input_type: str, dimensions: int | None
    ) -> Sequence[Sequence[float]]:
        # Without a session of ours the library makes one for each call, handshake included.
        token = voyageai.aiosession.set(self._session)
        try:
            answer = await self._client.embed(
                texts,
                model=model,
                input_type=input_type,
                truncation=True,
                output_dimension=dimensions,
            )
        except (voyage_error.Timeout, TimeoutError):
            raise EmbeddingError(FailureReason.TIMEOUT, "Voyage took too long to answer.") from None
        except voyage_error.APIConnectionError as e:
            raise _connection_error(e.__cause__) from None
        except voyage_error.VoyageError as e:
            raise _refusal(e) from None
        except _AnswerBroken as e:
            raise EmbeddingError(FailureReason.PROVIDER_ERROR, str(e)) from None
        except (aiohttp.ClientError, OSError) as e:
            raise _connection_error(e) from None
        except (AttributeError, KeyError, TypeError, ValueError, binascii.Error):
            raise _nonsense() from None
        finally:
            voyageai.aiosession.reset(token)
        return answer.embeddings


class _ConnectionLost(Exception):
    """The server closed a connection before it answered."""


class _AnswerBroken(Exception):
    """An answer that cannot be read to its end. Its message is for a person."""


class _BoundedResponse(aiohttp.ClientResponse):
    """An answer of a bounded size, whose failures pass through the library untouched."""

    _whole: bytes | None = None

    async def read(self) -> bytes:
        """The whole body."""
        if self._whole is None:
            try:
                self._whole = await self._read_bounded()
            except aiohttp.ClientError:
                self.close()
                raise _AnswerBroken("Voyage's answer broke off.") from None
            except BaseException:
                self.close()
                raise
        return self._whole

    async def _read_bounded(self) -> bytes:
        chunks, size = [], 0
        async for chunk in self.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise _AnswerBroken("Voyage's answer is larger than any batch of vectors.")
        return b"".join(chunks)


def _no_redirects() -> aiohttp.TraceConfig:
    """Texts go to the configured host and to no other."""

    async def refuse(*_: object) -> None:
        raise EmbeddingError(
            FailureReason.PROVIDER_ERROR,
            "Voyage's address sends elsewhere: check embedding.base_url.",
            transient=False,
        )

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(refuse)
    return trace


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for *url*, of a kind that is supported."""
    target = URL(url)
    host = target.host or ""
    if host in ("localhost", "127.0.0.1", "::1") or proxy_bypass(host):
        return None
    proxy = getproxies().get(target.scheme)
    return proxy if proxy and URL(proxy).scheme in ("http", "https") else None


def _connection_error(cause: BaseException | None) -> Exception:
    if isinstance(cause, (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError)):
        return _ConnectionLost()
    if isinstance(cause, (aiohttp.ClientHttpProxyError, aiohttp.ClientProxyConnectionError)):
        return _unreachable("cannot be reached through the proxy that the environment names")
    if isinstance(cause, aiohttp.ClientConnectorDNSError):
        return _unreachable("cannot be reached: its name does not resolve")
    if isinstance(cause, aiohttp.ClientSSLError):
        return _unreachable("cannot be reached: no trusted encrypted connection")
    if isinstance(cause, aiohttp.ClientConnectorError):
        return _unreachable(f"cannot be reached: {_words(cause.os_error)}")
    if isinstance(cause, OSError):
        return _unreachable(f"cannot be reached: {_words(cause)}")
    return _nonsense()


def _words(e: OSError) -> str:
    return os.strerror(e.errno).lower() if e.errno and e.errno > 0 else "no connection"


def _refusal(e: voyage_error.VoyageError) -> EmbeddingError:
    if e.http_status is None or e.http_status < 300:
        return _nonsense()
    return status_error(e.http_status, e.headers, provider="Voyage", hints=_HINTS)


def _unreachable(what: str) -> EmbeddingError:
    return EmbeddingError(FailureReason.PROVIDER_UNREACHABLE, f"Voyage {what}.")


def _nonsense() -> EmbeddingError:
    return EmbeddingError(
        FailureReason.PROVIDER_ERROR, "Voyage answered with something that is no embedding."
    )
