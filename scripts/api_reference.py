"""Writes the API's reference, docs/api-reference.md, from the comments of the proto files.

Usage: api_reference.py [OUT]

Needs grpcio-tools. `scripts/generate` runs it, and a test compares the page with the files.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
PAGE = ROOT / "docs" / "api-reference.md"

PACKAGE = ".twolane.v1."

HEAD = """# API reference

<!-- Made by `scripts/generate` from the comments in proto/twolane/v1; a test keeps it current. -->

Every service, message and enum of the package `twolane.v1`. [The API](api.md) says what holds for
all of them: where the daemon listens, errors, limits, JSON.

"""

SERVICE, MESSAGE, ENUM = 6, 4, 5
"""The field numbers of `FileDescriptorProto` that paths to comments begin with."""

FIELD, VALUE, METHOD, NESTED_MESSAGE, NESTED_ENUM = 2, 2, 2, 3, 4

SCALARS = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}


class Comments:
    """The leading comments of a file, by the path of the element that they stand before."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._of = {
            tuple(place.path): place.leading_comments for place in file.source_code_info.location
        }

    def text(self, *path: int) -> str:
        """The comment as Markdown paragraphs; its lines are joined, lists are kept."""
        raw = "\n".join(line.removeprefix(" ") for line in self._of.get(path, "").splitlines())
        return raw.strip()

    def line(self, *path: int) -> str:
        """The comment as the text of a table's cell."""
        return re.sub(r"\s*\n\s*", " ", self.text(*path)).replace("|", "\\|")


def load() -> list[FileDescriptorProto]:
    """The files of the API with their comments, by name.

    Raises:
        RuntimeError: protoc refused them; it has said why on standard error.
    """
    names = sorted(str(file.relative_to(PROTO)) for file in PROTO.glob("twolane/v1/*.proto"))
    include = Path(protoc.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        arguments = [f"-I{PROTO}", f"-I{include}", "--include_source_info"]
        if protoc.main(["protoc", *arguments, f"--descriptor_set_out={out}", *names]) != 0:
            raise RuntimeError("protoc could not read the files in proto/")
        found = FileDescriptorSet.FromString(out.read_bytes())
    return sorted(found.file, key=lambda file: file.name)


def anchor(name: str) -> str:
    """The link target that Markdown readers make of a heading with *name*."""
    return name.lower().replace(".", "")


def kind(field: FieldDescriptorProto, maps: dict[str, DescriptorProto]) -> str:
    """The field's type, with a link where it is one of the API's own."""
    if field.type_name in maps:
        key, value = maps[field.type_name].field
        return f"map of {kind(key, maps)} to {kind(value, maps)}"
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    if field.type_name.startswith(PACKAGE):
        name = field.type_name.removeprefix(PACKAGE)
        shown = f"[{name}](#{anchor(name)})"
    elif field.type_name:
        shown = f"`{field.type_name.removeprefix('.')}`"
    else:
        shown = f"`{SCALARS[field.type]}`"
    if repeated:
        return f"repeated {shown}"
    return f"optional {shown}" if field.proto3_optional else shown


def message(
    item: DescriptorProto, name: str, path: tuple[int, ...], comments: Comments
) -> Iterator[str]:
    """The section of a message, and of the messages and enums inside it."""
    maps = {
        f"{PACKAGE}{name}.{nested.name}": nested
        for nested in item.nested_type
        if nested.options.map_entry
    }
    yield f"### {name}\n\n{comments.text(*path)}\n"
    if item.field:
        yield "| Field | Type | Meaning |\n| --- | --- | --- |"
    for place, field in enumerate(item.field):
        group = ""
        if field.HasField("oneof_index") and not field.proto3_optional:
            group = f"One of `{item.oneof_decl[field.oneof_index].name}`. "
        told = comments.line(*path, FIELD, place)
        yield f"| `{field.name}` | {kind(field, maps)} | {group}{told} |"
    yield ""
    for place, nested in enumerate(item.nested_type):
        if not nested.options.map_entry:
            inner = (*path, NESTED_MESSAGE, place)
            yield from message(nested, f"{name}.{nested.name}", inner, comments)
    for place, choice in enumerate(item.enum_type):
        inner = (*path, NESTED_ENUM, place)
        yield from enum(choice, f"{name}.{choice.name}", inner, comments)


def enum(
    item: EnumDescriptorProto, name: str, path: tuple[int, ...], comments: Comments
) -> Iterator[str]:
    """The section of an enum."""
    yield f"### {name}\n\n{comments.text(*path)}\n\n| Value | Meaning |\n| --- | --- |"
    for place, value in enumerate(item.value):
        yield f"| `{value.name}` | {comments.line(*path, VALUE, place)} |"
    yield ""


def service(item: ServiceDescriptorProto, place: int, comments: Comments) -> Iterator[str]:
    """The section of a service with its methods."""
    yield f"## {item.name}\n\n{comments.text(SERVICE, place)}\n"
    for number, method in enumerate(item.method):
        into, out = (
            f"{'stream of ' if stream else ''}[{name}](#{anchor(name)})"
            for name, stream in (
                (method.input_type.removeprefix(PACKAGE), method.client_streaming),
                (method.output_type.removeprefix(PACKAGE), method.server_streaming),
            )
        )
        told = comments.text(SERVICE, place, METHOD, number)
        yield f"### {item.name}.{method.name}\n\n{into} → {out}\n\n{told}\n"


def page(files: list[FileDescriptorProto]) -> str:
    """The whole page: services first, then each file's messages and enums."""
    lines: list[str] = []
    for file in files:
        comments = Comments(file)
        for place, offered in enumerate(file.service):
            lines.extend(service(offered, place, comments))
    lines.append("## Messages and enums\n")
    for file in files:
        comments = Comments(file)
        for place, item in enumerate(file.message_type):
            lines.extend(message(item, item.name, (MESSAGE, place), comments))
        for place, choice in enumerate(file.enum_type):
            lines.extend(enum(choice, choice.name, (ENUM, place), comments))
    return HEAD + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def main() -> None:
    """Write the page to the file that was named, or to its place."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    out.write_text(page(load()), encoding="utf-8")


if __name__ == "__main__":
    main()
