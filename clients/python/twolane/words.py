"""Enum values as words: lower case, without the prefix that the enum's name gives them.

``SEARCH_MODE_LEXICAL`` is ``lexical``. The prefix is derived from the enum's name, so that a new
enum needs no table.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from twolane.errors import InvalidRequest, Violation

if TYPE_CHECKING:
    from google.protobuf.descriptor import EnumDescriptor

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def prefix(enum: EnumDescriptor) -> str:
    """Return what every value name of *enum* begins with, such as ``SEARCH_MODE_``."""
    return _BORDER.sub("_", enum.name).upper() + "_"


def word(enum: EnumDescriptor, number: int) -> str:
    """Return the word of *number*; a number that this version does not know is said as digits."""
    value = enum.values_by_number.get(number)
    return str(number) if value is None else value.name.removeprefix(prefix(enum)).lower()


@cache
def choices(enum: EnumDescriptor) -> tuple[str, ...]:
    """Return the words of *enum* in order of their numbers, ``unspecified`` left out."""
    return tuple(word(enum, value.number) for value in enum.values if value.number != 0)


def number(enum: EnumDescriptor, said: str, *, field: str) -> int:
    """Return the number of the word *said*. Raises InvalidRequest, naming *field*."""
    value = enum.values_by_name.get(prefix(enum) + said.upper())
    if value is None:
        why = f"{field} must be one of {', '.join(choices(enum))}, not {said!r}."
        raise InvalidRequest(why, reason="INVALID_FIELD", violations=[Violation(field, why)])
    return int(value.number)
