"""One entry of a configuration changes; every other byte stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolane.errors import Refused
from twolane.mcp.splice import remove_json, remove_toml, set_json, set_toml

ENTRY = {"command": "/opt/twolane", "args": ["mcp"]}

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
SERVERS = st.dictionaries(
    st.sampled_from(["a", "twolane", "b }{"]), st.dictionaries(st.text(max_size=4), VALUES)
)
DOCUMENTS = st.fixed_dictionaries({}, optional={"x": VALUES, "mcpServers": SERVERS, 'y"': VALUES})
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@given(document=DOCUMENTS, indent=INDENTS, ascii_only=st.booleans())
@settings(max_examples=150, deadline=None)
def test_json_keeps_everything_else(document: Any, indent: Any, ascii_only: bool) -> None:
    """In whatever style it is written; doing it again changes nothing, and it can be undone."""
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)

    made = set_json(text, "mcpServers", "twolane", ENTRY)

    servers = document.get("mcpServers", {})
    old = servers.get("twolane", {})
    wanted = {**document, "mcpServers": {**servers, "twolane": {**old, **ENTRY}}}
    assert wanted == json.loads(made)
    assert made == set_json(made, "mcpServers", "twolane", ENTRY)
    gone = json.loads(remove_json(made, "mcpServers", "twolane"))
    servers.pop("twolane", None)
    assert {**document, "mcpServers": servers} == gone


def test_json_is_spliced_in_the_style_of_its_file() -> None:
    """Order, numbers, escapes and white space that are somebody else's stay to the byte."""
    text = (
        '{\r\n    "z": 1.50, "u": "\\u00e9",\r\n    "mcpServers": {\r\n'
        '        "other": {"command":"x"}\r\n    },\r\n    "a": [1,\r\n2]\r\n}\r\n'
    )

    made = set_json(text, "mcpServers", "twolane", ENTRY)

    assert made == text.replace(
        '"other": {"command":"x"}',
        '"other": {"command":"x"},\r\n        "twolane": {\r\n'
        '            "command": "/opt/twolane",\r\n'
        '            "args": [\r\n                "mcp"\r\n            ]\r\n        }',
    )
    assert text == remove_json(made, "mcpServers", "twolane")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {}, // mine\n}', "not JSON"),
        ('{"mcpServers": {},}', "not JSON"),
        ("[]", "no JSON object"),
        ('{"mcpServers": []}', "no object"),
        ('{"mcpServers": {"twolane": 1}}', "no table"),
        ('{"mcpServers": {}, "mcpServers": {}}', "twice"),
        ('{"a": NaN}', "no number"),
        ('{"mcpServers": ', "not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_cannot_be_read_is_refused(text: str, said: str) -> None:
    """Rather than guessed at."""
    with pytest.raises(Refused, match=said):
        set_json(text, "mcpServers", "twolane", ENTRY)


TOML = """\
# mine
model = "o4"   # the one I like

[mcp_servers.other]  # keep
command = "x"
[mcp_servers.other.env]
KEY = "1"

[profiles.fast]
model = "o4-mini"
"""


def test_toml_keeps_comments_and_order() -> None:
    """What was there is there still, line by line; doing it again changes nothing."""
    made = set_toml(TOML, "mcp_servers", "twolane", ENTRY)

    read = tomllib.loads(made)
    assert ENTRY == read["mcp_servers"]["twolane"]
    read["mcp_servers"].pop("twolane")
    assert tomllib.loads(TOML) == read
    assert set(TOML.splitlines()) <= set(made.splitlines())
    assert made == set_toml(made, "mcp_servers", "twolane", ENTRY)
    gone = remove_toml(made, "mcp_servers", "twolane")
    assert tomllib.loads(TOML) == tomllib.loads(gone)


def test_toml_keeps_what_a_person_added_to_the_entry() -> None:
    """Only the keys of the new entry change, and comments beside them stay."""
    text = '[mcp_servers.twolane]\ncommand = "old"  # mine\nargs = ["mcp"]\ntimeout = 9\n'

    made = set_toml(text, "mcp_servers", "twolane", ENTRY)

    assert {**ENTRY, "timeout": 9} == tomllib.loads(made)["mcp_servers"]["twolane"]
    assert "# mine" in made


@pytest.mark.parametrize("text", ["", "a = 1\n", "[mcp_servers]\n", "mcp_servers = {}\n"])
def test_toml_without_servers_gets_them(text: str) -> None:
    """Whatever there is of the table."""
    made = set_toml(text, "mcp_servers", "twolane", ENTRY)

    assert {"twolane": ENTRY} == tomllib.loads(made)["mcp_servers"]
    assert {} == tomllib.loads(remove_toml(made, "mcp_servers", "twolane")).get("mcp_servers", {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", "not TOML"),
        ("mcp_servers = 1", "no table"),
        ('mcp_servers = {twolane = "x"}', "no table"),
    ],
)
def test_toml_that_cannot_be_read_is_refused(text: str, said: str) -> None:
    """Rather than guessed at."""
    with pytest.raises(Refused, match=said):
        set_toml(text, "mcp_servers", "twolane", ENTRY)
