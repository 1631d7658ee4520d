"""Sets or removes one entry in a configuration and leaves every other byte as it is.

JSON is spliced as text: other programs keep numbers, order and white space of their own in the same
file. TOML is edited by tomlkit, which keeps comments. Whatever cannot be read is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from twolane.errors import Refused

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its name, where its name begins and where its value lies."""

    name: str
    start: int
    value: int
    end: int


def set_json(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return *text* with *entry* as *name* in the object *table*. Raises Refused.

    Keys of an entry that is there already stay if *entry* has none of that name.
    """
    whole = _parsed(text)
    if not text.strip(_SPACE):
        return json.dumps({table: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    members = list(_members(text, _skip(text, 0)))
    outer = _one(members, table)
    servers = whole.get(table, {})
    if not isinstance(servers, dict):
        raise _refused(f"{table} is no object")
    wanted = {**servers, name: {**_object(servers.get(name), name), **entry}}
    if outer is None:
        made = _put(text, _skip(text, 0), members, table, {name: wanted[name]})
    else:
        inner = list(_members(text, outer.value))
        there = _one(inner, name)
        if there is None:
            made = _put(text, outer.value, inner, name, wanted[name])
        else:
            written = _written(text, there.start, wanted[name])
            made = text[: there.value] + written + text[there.end :]
    assert json.loads(made) == {**whole, table: wanted}, "only the entry changes"
    return made


def remove_json(text: str, table: str, name: str) -> str:
    """Return *text* without the entry *name* of *table*. Raises Refused."""
    whole = _parsed(text)
    outer = _one(list(_members(text, _skip(text, 0))), table) if text.strip(_SPACE) else None
    if outer is None or not isinstance(whole[table], dict) or name not in whole[table]:
        return text
    members = list(_members(text, outer.value))
    there = _one(members, name)
    assert there is not None, "it is in the object"
    at = members.index(there)
    if at + 1 < len(members):
        made = text[: there.start] + text[members[at + 1].start :]
    elif at:
        made = text[: members[at - 1].end] + text[there.end :]
    else:
        made = text[: outer.value] + "{}" + text[outer.end :]
    kept = {key: value for key, value in whole[table].items() if key != name}
    assert json.loads(made) == {**whole, table: kept}, "only the entry goes"
    return made


def set_toml(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """The same for TOML, where *table* is a table of tables."""
    import tomlkit
    from tomlkit.items import InlineTable

    document = _toml(text)
    servers = document.get(table)
    if servers is None:
        servers = tomlkit.table(is_super_table=True)
        document.append(table, servers)
    if not isinstance(servers, dict):
        raise _refused(f"{table} is no table")
    there = servers.get(name)
    if there is None:
        inline = isinstance(servers, InlineTable)
        there = tomlkit.inline_table() if inline else tomlkit.table()
        servers[name] = there
    for key, value in entry.items():
        if _object(there, name).get(key) != value:
            there[key] = value
    return tomlkit.dumps(document)


def remove_toml(text: str, table: str, name: str) -> str:
    """The same for TOML."""
    import tomlkit

    document = _toml(text)
    servers = document.get(table)
    if not isinstance(servers, dict) or name not in servers:
        return text
    del servers[name]
    if not servers:
        del document[table]
    return tomlkit.dumps(document)


def _parsed(text: str) -> dict[str, Any]:
    if not text.strip(_SPACE):
        return {}
    try:
        whole = json.loads(text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _refused(f"it is not JSON (line {error.lineno}: {error.msg})") from None
    except ValueError as error:
        raise _refused(f"it is not JSON ({error})") from None
    except RecursionError:
        raise _refused("it is nested too deeply") from None
    if not isinstance(whole, dict):
        raise _refused("it is no JSON object")
    return whole


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _toml(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise _refused(f"it is not TOML ({error})") from None


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _refused(f"its entry {name} is no table")
    return value


def _members(text: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object at *start* of *text*, which is JSON."""
    at = _skip(text, start + 1)
    while text[at] != "}":
        name, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        _, last = _DECODER.raw_decode(text, value)
        yield _Member(name, at, value, last)
        at = _skip(text, last)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _one(members: list[_Member], name: str) -> _Member | None:
    found = [member for member in members if member.name == name]
    if len(found) > 1:
        raise _refused(f"it holds {name} twice")
    return found[0] if found else None


def _put(text: str, start: int, members: list[_Member], name: str, value: Any) -> str:
    """Return *text* with a member more in the object at *start*, behind the others."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if members:
        last = members[-1]
        lead = text[_line(text, last.start) : last.start]
        if lead.strip(_SPACE):  # all in one line
            written = json.dumps(value, ensure_ascii=False)
            return f"{text[: last.end]}, {json.dumps(name)}: {written}{text[last.end :]}"
        member = f"{lead}{json.dumps(name)}: {_indented(text, value, lead)}"
        return text[: last.end] + "," + newline + member + text[last.end :]
    close = _skip(text, start + 1)
    outer = text[_line(text, start) : start]
    outer = outer[: len(outer) - len(outer.lstrip(" \t"))]
    lead = outer + _unit(text)
    member = f"{lead}{json.dumps(name)}: {_indented(text, value, lead)}"
    return text[: start + 1] + newline + member + newline + outer + text[close:]


def _written(text: str, start: int, value: Any) -> str:
    lead = text[_line(text, start) : start]
    if lead.strip(_SPACE):
        return json.dumps(value, ensure_ascii=False)
    return _indented(text, value, lead)


def _indented(text: str, value: Any, lead: str) -> str:
    written = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return written.replace("\n", ("\r\n" if "\r\n" in text else "\n") + lead)


def _unit(text: str) -> str:
    """The indent of one level: that of the first indented line, else two spaces."""
    for line in text.splitlines():
        rest = line.lstrip(" \t")
        if rest and rest != line:
            return line[: len(line) - len(rest)]
    return "  "


def _line(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _refused(why: str) -> Refused:
    return Refused(why, reason="CONFIG_UNREADABLE")
