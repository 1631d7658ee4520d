from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import twolane
from twolane import errors

HEAVY = ("google.protobuf", "grpc", "grpc_health", "rich", "twolaned")


def loaded_by(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after *code*."""
    script = f"{code}\nimport sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.splitlines()[-1].split())


def test_all_is_sorted_and_complete() -> None:
    """Constants, classes and functions are listed in order, and every one can be had."""
    homes = {name for names in twolane._HOMES.values() for name in names}

    def place(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)

    assert sorted(twolane.__all__, key=place) == twolane.__all__
    assert {*homes, "__version__"} == set(twolane.__all__)
    assert set(twolane.__all__) <= set(dir(twolane))
    for name in twolane.__all__:
        assert getattr(twolane, name) is not None


def test_names_are_those_of_their_modules() -> None:
    """A public name and its module's are the same object, also when the module came first."""
    for module, names in twolane._HOMES.items():
        home = importlib.import_module(f"twolane.{module}")
        for name in names:
            assert getattr(home, name) is getattr(twolane, name)


def test_every_error_is_public() -> None:
    """Whatever the client raises can be caught by a public name."""
    raised = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.TwolaneError)
    }

    assert raised <= set(twolane.__all__)


def test_the_drawn_tree_names_every_error() -> None:
    """The tree in the module's docstring is complete."""
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.TwolaneError):
            assert name in (errors.__doc__ or "")


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The lazy package fails as any other does."""
    with pytest.raises(AttributeError, match="no attribute 'Klient'"):
        twolane.Klient  # noqa: B018


@pytest.mark.parametrize("code", ["import twolane", "import twolane.errors; twolane.NotFound"])
def test_importing_the_package_is_light(code: str) -> None:
    """Neither gRPC nor protobuf is loaded before it is used."""
    code = code.replace("; twolane", "; import twolane; twolane")
    assert set() == loaded_by(code)
