"""Messages as JSON, in one way for the command line, context packs and bridges.

It is protobuf's own JSON mapping with these settings: fields keep their names from the proto
files; fields without presence are printed even where they hold their default; enum values are
words (``"lexical"`` for ``SEARCH_MODE_LEXICAL``). From the mapping itself follow: 64-bit integers
are strings, times are RFC 3339 strings in UTC, durations are seconds with an ``s``, bytes are
base64, and a message that is not set is left out.
"""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from twolane.words import prefix

_WELL_KNOWN = "google.protobuf."


def to_dict(message: Message) -> dict[str, Any]:
    """Return *message* as what `json.dumps` takes."""
    tree: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    _say_words(tree, message.DESCRIPTOR)
    return tree


def to_json(message: Message, *, compact: bool = True) -> str:
    """Return *message* as JSON text without escapes for what is not ASCII.

    Compact text is one line without spaces; otherwise it is indented by two.
    """
    return dump(to_dict(message), compact=compact)


def dump(tree: object, *, compact: bool = True) -> str:
    """Return *tree* as JSON text in the same style as `to_json`."""
    if compact:
        return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(tree, ensure_ascii=False, indent=2)


def _say_words(tree: dict[str, Any], descriptor: Any) -> None:
    """Make enum values of *tree* words, and put its fields in the order of the proto file."""
    ordered = {field.name: tree[field.name] for field in descriptor.fields if field.name in tree}
    tree.clear()
    tree.update(ordered)
    for field in descriptor.fields:
        if field.name not in tree:
            continue
        value = tree[field.name]
        if field.enum_type is not None:
            tree[field.name] = _word(value, field)
        elif field.message_type is not None:
            if field.message_type.GetOptions().map_entry:
                entry = field.message_type.fields_by_name["value"]
                for key, item in value.items():
                    value[key] = _item(item, entry)
            elif isinstance(value, list):
                for item in value:
                    _item(item, field)
            else:
                _item(value, field)


def _item(value: Any, field: FieldDescriptor) -> Any:
    """Rewrite one value of *field* in place if it is a message; return the value to keep."""
    if field.enum_type is not None:
        return _word(value, field)
    kind = field.message_type
    if kind is not None and not kind.full_name.startswith(_WELL_KNOWN):
        _say_words(value, kind)
    return value


def _word(value: Any, field: FieldDescriptor) -> Any:
    if isinstance(value, list):
        return [_word(item, field) for item in value]
    # A number is a value that this version does not know: it stays one.
    return value.removeprefix(prefix(field.enum_type)).lower() if isinstance(value, str) else value
