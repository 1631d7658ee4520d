"""Pages of a list, as AIP-158 wants them: opaque tokens, bound to the request's arguments."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from twolaned.model.errors import InvalidInput
from twolaned.services import checks

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1_000

T = TypeVar("T")


class _Token(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a list goes on: behind the item *after* of the list that *binding* names."""

    binding: int
    after: str


def page(
    items: Iterable[T],
    key: Callable[[T], str],
    *,
    of: str,
    size: int,
    token: str,
) -> tuple[list[T], str]:
    """The page of *items* that *token* points at, in order of *key*, and the next page's token.

    *of* names the list and the arguments that made it; a token of another list is refused. *size*
    0 means the default and one over the limit is read as the limit. Raises InvalidInput.
    """
    checks.not_negative("page_size", size)
    binding = zlib.crc32(of.encode())
    after = _read(token, binding) if token else None
    ordered = sorted((item for item in items if after is None or key(item) > after), key=key)
    count = min(size, MAX_PAGE_SIZE) or DEFAULT_PAGE_SIZE
    if len(ordered) <= count:
        return ordered, ""
    last = _Token(binding, key(ordered[count - 1]))
    return ordered[:count], base64.urlsafe_b64encode(msgspec.msgpack.encode(last)).decode()


def _read(token: str, binding: int) -> str:
    try:
        read = msgspec.msgpack.decode(
            base64.b64decode(token, altchars=b"-_", validate=True), type=_Token
        )
    except (ValueError, binascii.Error, msgspec.DecodeError) as e:
        raise _refused() from e
    if read.binding != binding:
        raise _refused()
    return read.after


def _refused() -> InvalidInput:
    return InvalidInput(
        "page_token",
        "`page_token` is not one that this list gave for these arguments. Begin again without it.",
        reason="PAGE_TOKEN",
    )
