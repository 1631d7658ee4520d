from __future__ import annotations

import importlib

import pytest
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    MethodDescriptor,
)

from tests.architecture.rooms import ROOT

PROTOS = sorted(file.stem for file in (ROOT / "proto" / "twolane" / "v1").glob("*.proto"))


def files() -> list[FileDescriptor]:
    return [importlib.import_module(f"twolane.v1.{name}_pb2").DESCRIPTOR for name in PROTOS]


def messages() -> list[Descriptor]:
    found = [m for file in files() for m in file.message_types_by_name.values()]
    for message in found:
        found.extend(message.nested_types)
    return found


def enums() -> list[EnumDescriptor]:
    top = [e for file in files() for e in file.enum_types_by_name.values()]
    return top + [e for message in messages() for e in message.enum_types]


def methods() -> list[MethodDescriptor]:
    services = [s for file in files() for s in file.services_by_name.values()]
    return [method for service in services for method in service.methods]


@pytest.mark.parametrize("enum", enums(), ids=lambda e: e.name)
def test_zero_is_unspecified(enum: EnumDescriptor) -> None:
    """A field that nobody set never reads as a meaningful value."""
    assert enum.values_by_number[0].name.endswith("_UNSPECIFIED")


@pytest.mark.parametrize("method", methods(), ids=lambda m: m.full_name)
def test_a_stream_is_not_paged(method: MethodDescriptor) -> None:
    """A list is unary with page tokens, or a stream without: never both."""
    paged = "page_token" in method.input_type.fields_by_name

    assert not (paged and method.server_streaming)
    assert paged == ("next_page_token" in method.output_type.fields_by_name)


@pytest.mark.parametrize("message", messages(), ids=lambda m: m.full_name)
def test_moments_are_timestamps(message: Descriptor) -> None:
    """A field that names a moment is a Timestamp, so that no client guesses the unit."""
    moments = [
        field
        for field in message.fields
        if field.name in ("at", "since", "before") or field.name.endswith("_at")
    ]

    for field in moments:
        assert field.type == FieldDescriptor.TYPE_MESSAGE, field.full_name
        assert "google.protobuf.Timestamp" == field.message_type.full_name, field.full_name
