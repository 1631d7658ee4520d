from __future__ import annotations

import time

import pytest

from twolaned.search.paths import path_matcher

FILE = "/home/ada/work/Slipway/docs/notes/Über Queues.md"


@pytest.mark.parametrize(
    "said",
    [
        "docs/", "slipway/docs", "DOCS/NOTES", "über", "u\u0308ber", "queues.md", "*.md", "docs/**",
        "docs/*", "/home/**/*.md", "docs/**/*.md", "docs/notes/*.md", "**/notes/**", "slip*",
        "note?", "[a-n]otes", "[!x]ocs", "**", "*queues*",
    ],
)  # fmt: skip
def test_met(said: str) -> None:
    """Text anywhere in the path, or a pattern from the start of a name to the end of one."""
    assert path_matcher(said)(FILE)


@pytest.mark.parametrize(
    "said",
    [
        "doc/", "*.m", "queues.md/", "docs/*.md", "/work/**", "ada/*/docs/*.md", "otes?", "?otes?",
        "[x]otes", "notes/**/x", "lipway/*", "[", "docs/[",
    ],
)  # fmt: skip
def test_not_met(said: str) -> None:
    """A star stays within a name; a bracket that never closes is a bracket."""
    assert not path_matcher(said)(FILE)


def test_many_wildcards_take_no_time() -> None:
    """No pattern makes matching explode."""
    started = time.perf_counter()
    met = path_matcher("/".join(["**", "*a*a*a*b"] * 40))("/" + "/".join(["aaaaaaaaaaaa"] * 80))

    assert not met
    assert time.perf_counter() - started < 2
