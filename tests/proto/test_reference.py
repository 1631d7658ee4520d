"""docs/api-reference.md is what the proto files say of themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rooms import ROOT
from tests.proto.test_shape import enums, messages, methods

STORED = ROOT / "docs" / "api-reference.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("reference") / "page.md"
    script = ROOT / "scripts" / "api_reference.py"
    subprocess.run([sys.executable, str(script), str(out)], check=True, timeout=60)
    return out.read_text(encoding="utf-8")


def test_the_reference_is_current(made: str) -> None:
    """A change of the API changes its page in the same commit."""
    assert made == STORED.read_text(encoding="utf-8"), "Run scripts/generate"


def test_everything_is_documented(made: str) -> None:
    """Every method, message and enum has its section, every field and value its row."""
    for method in methods():
        assert f"### {method.containing_service.name}.{method.name}\n" in made
    for message in messages():
        if not message.GetOptions().map_entry:
            assert f"### {message.full_name.removeprefix('twolane.v1.')}\n" in made
            assert all(f"| `{field.name}` | " in made for field in message.fields)
    for enum in enums():
        assert f"### {enum.full_name.removeprefix('twolane.v1.')}\n" in made
        assert all(f"| `{value.name}` | " in made for value in enum.values)


def test_no_row_lacks_its_meaning(made: str) -> None:
    """Comments reach the table."""
    assert re.findall(r"^\|.*\|\s*\|$", made, re.MULTILINE) == []


def test_links_lead_somewhere(made: str) -> None:
    """Each link within the page has a heading, and the page it names is there."""
    headings = {h.lower().replace(".", "") for h in re.findall(r"^#+ (.+)$", made, re.MULTILINE)}

    assert set(re.findall(r"\]\(#([^)]+)\)", made)) <= headings
    assert all(
        (STORED.parent / Path(name)).exists() for name in re.findall(r"\]\(([\w-]+\.md)\)", made)
    )
