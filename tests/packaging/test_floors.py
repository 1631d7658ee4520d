from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.architecture.rooms import CLIENT, DAEMON, ROOT, imports, modules

GENERATED = CLIENT / "v1"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared() -> dict[str, Requirement]:
    requirements = map(Requirement, importlib.metadata.requires("twolane") or [])
    return {r.name.lower().replace("_", "-"): r for r in requirements}


def floor(name: str) -> Version:
    (bound,) = (s for s in declared()[name].specifier if s.operator == ">=")
    return Version(bound.version)


def stamps(pattern: str, files: str) -> set[Version]:
    texts = (file.read_text(encoding="utf-8") for file in GENERATED.glob(files))
    found = {Version(m.group(1)) for text in texts if (m := re.search(pattern, text))}
    assert found, f"no {files} carries a version"
    return found


def test_protobuf_is_new_enough_for_the_generated_code() -> None:
    """Generated messages refuse a runtime older than their generator."""
    assert {floor("protobuf")} == stamps(r"# Protobuf Python Version: (\S+)", "*_pb2.py")


@pytest.mark.parametrize(
    "package", ["grpcio", "grpcio-health-checking", "grpcio-reflection", "grpcio-status"]
)
def test_grpc_is_new_enough_for_the_generated_code(package: str) -> None:
    """Generated stubs refuse a gRPC older than their generator."""
    assert {floor(package)} == stamps(r"GRPC_GENERATED_VERSION = '(\S+)'", "*_pb2_grpc.py")


def test_the_installed_version_is_the_declared_one() -> None:
    """What `twolane --version` shows is what pyproject.toml says."""
    assert PROJECT["version"] == importlib.metadata.version("twolane")


def test_the_changelog_knows_the_version() -> None:
    """A version that can be installed has a section in the changelog."""
    headings = re.findall(
        r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert PROJECT["version"] in headings


def test_everything_imported_is_declared() -> None:
    """The code imports nothing that only a developer's environment happens to hold."""
    by_module = importlib.metadata.packages_distributions()
    known = {"twolane", "twolaned", *sys.stdlib_module_names}
    names = {
        i.module.split(".")[0]: i
        for package in (CLIENT, DAEMON)
        for name, file in modules(package)
        for i in imports(name, file)
    }
    undeclared = [
        str(i)
        for module, i in sorted(names.items())
        if module not in known
        and not {d.lower().replace("_", "-") for d in by_module.get(module, ())} & set(declared())
    ]

    assert [] == undeclared


def test_generated_code_is_parsed_by_the_oldest_python() -> None:
    """Everything that ships is valid syntax for the oldest Python that is declared."""
    oldest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    for package in (CLIENT, DAEMON):
        for file in package.rglob("*.py"):
            ast.parse(file.read_text(encoding="utf-8"), feature_version=oldest)
