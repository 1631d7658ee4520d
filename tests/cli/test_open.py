from __future__ import annotations

import re

import pytest
from click import unstyle
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Run
from tests.client.fake import PAGE, FakeDaemon
from twolane.cli import reading
from twolane.v1.search_service_pb2 import EvidenceMessage, OpenEvidenceResponse

BODY = "How?\n\nUse SKIP LOCKED.\n\nAgreed.\n"


def row(content: str = BODY, **fields: object) -> OpenEvidenceResponse:
    made = OpenEvidenceResponse(
        id="chatgpt:1",
        title="Which queue?",
        source="chatgpt",
        content=content,
        content_bytes=len(content.encode()),
        **fields,  # type: ignore[arg-type]
    )
    made.occurred_at.FromSeconds(1715515200)
    return made


def chat() -> OpenEvidenceResponse:
    made = row(message_count=3, decisions=["SKIP LOCKED", "No broker"], topics=["queue", "locks"])
    made.messages.add(offset=0, length=4, role="user", kind="human", on_main_line=True)
    made.messages.add(offset=6, length=16, role="assistant", kind="assistant", on_main_line=True)
    made.messages.add(offset=24, length=7, role="user", kind="human")
    return made


def test_a_conversation_reads_like_one(run: Run, served: FakeDaemon) -> None:
    """A head, then each message below who wrote it."""
    served.rows["chatgpt:1"] = chat()

    ended = run("open", "chatgpt:1")

    assert 0 == ended.code
    assert [
        "Which queue?",
        re.sub(r"\d\d:\d\d", "12:00", "chatgpt · 2024-05-12 12:00 · 3 messages · 32 B"),
        "id chatgpt:1",
        "Decisions  · SKIP LOCKED",
        "           · No broker",
        "Topics     queue, locks",
        "─" * 80,
        "▌ You",
        "How?",
        "",
        "▌ Assistant",
        "Use SKIP LOCKED.",
        "",
        "▌ You  abandoned",
        "Agreed.",
    ] == re.sub(r"\d\d:\d\d", "12:00", ended.out).splitlines()
    assert "" == ended.err


def test_a_long_text_is_read_to_its_end(run: Run, served: FakeDaemon) -> None:
    """All pages are shown, one behind the other, with nothing between them."""
    content = "".join(f"line {number} 語\n" for number in range(2000))
    served.rows["a"] = row(content)

    out = run("open", "a").out

    assert out.endswith(content)
    assert len(served.named("OpenEvidence")) > 3


@pytest.mark.parametrize("content", ["plain\n", "no line end", "\r\n tabs\t\x1b[1m\x00 é語", ""])
def test_raw_is_byte_for_byte(run: Run, served: FakeDaemon, content: str) -> None:
    """--raw writes the stored text and nothing else."""
    served.rows["a"] = row(content)

    assert content == run("open", "a", "--raw").out


def test_json_is_a_page_a_line(run: Run, served: FakeDaemon) -> None:
    """The pages' contents join to the text."""
    content = "x" * (PAGE + 10)
    served.rows["a"] = row(content)

    pages = run("open", "a", "--json").objects

    assert 2 == len(pages)
    assert content == "".join(page["content"] for page in pages)
    assert [str(PAGE), "0"] == [page["next_offset"] for page in pages]


def test_a_part_says_how_to_go_on(run: Run, served: FakeDaemon) -> None:
    """--offset and --max-bytes show one part; what is left and where it begins is said."""
    served.rows["a"] = row("0123456789")

    ended = run("open", "a", "--offset", "2", "--max-bytes", "3")

    assert "234\n" in ended.out
    assert "… 5 B left; go on with --offset 5" in ended.out


def test_middle_says_what_is_left_out(run: Run, served: FakeDaemon) -> None:
    """Start and end are shown, and how much lies between."""
    served.rows["a"] = row("start " + "x" * 300 + " end")

    out = run("open", "a", "--middle").out

    assert "start xxx" in out
    assert "x end" in out
    assert "(230 B between start and end left out)" in out


def test_at_shows_the_surroundings(run: Run, served: FakeDaemon) -> None:
    """Where a result was found is shown with whole lines before and behind it."""
    lines = [f"line {number}" for number in range(3000)]
    content = "\n".join(lines)
    served.rows["a"] = row(content)
    at = content.index("line 1500")

    out = run("open", "a", "--at", str(at)).out

    shown = [line for line in out.splitlines() if line.startswith("line ")]
    assert "line 1500" in shown
    assert set(shown) <= set(lines)
    assert 100 < len(shown) < 1000
    assert "before this" in out
    assert "leave out --at to read it all" in out
    assert 1 == len(served.named("OpenEvidence"))


def test_what_is_not_there_is_code_1(run: Run, served: FakeDaemon) -> None:
    """An unknown id is an error that names it."""
    ended = run("open", "nothing")

    assert (1, "") == (ended.code, ended.out)
    assert "There is no row nothing." in ended.err


def test_stored_text_does_not_steer_the_terminal(run: Run, served: FakeDaemon) -> None:
    """Escape sequences anywhere in a row are shown, not obeyed."""
    evil = "\x1b[2J\x07\x9b\u202e"
    hostile = row(f"a{evil}\nb\r\nc\rd", summary=evil, decisions=[evil], topics=[evil])
    hostile.title = hostile.source = hostile.path = hostile.cwd = hostile.git_branch = evil
    hostile.messages.add(offset=0, length=3, role=evil, kind=evil, speaker=evil)
    served.rows["a"] = hostile

    for arguments in (["open", "a"], ["open", "a", "--at", "0"], ["open", "a", "--middle"]):
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(run(*arguments).out)


@given(
    parts=st.lists(st.text(alphabet="ab語\n ", min_size=1, max_size=12), min_size=1, max_size=6),
    start=st.integers(0, 40),
)
@settings(max_examples=100, deadline=None)
def test_every_word_of_a_page_is_shown(parts: list[str], start: int) -> None:
    """Headings come between the words of a page and take none of them away."""
    offsets, at = [], 0
    for part in parts:
        offsets.append(at)
        at += len(part.encode())
    page = OpenEvidenceResponse(content="".join(parts), offset=start)
    for offset in offsets:
        page.messages.add(offset=start + offset, length=1, role="user", on_main_line=True)

    shown = unstyle("".join(reading.body(page)))

    assert "".join("".join(parts).split()) == "".join(shown.replace("▌ You", "").split())
    assert len(parts) == shown.count("▌ You")


def test_a_heading_names_what_is_particular() -> None:
    """Who wrote it, what it is if not plain words, and when."""
    message = EvidenceMessage(role="user", kind="attachment", speaker="plan.md", on_main_line=True)
    tool = EvidenceMessage(role="tool", kind="tool_result", on_main_line=True)

    assert "plan.md" in reading.heading(message)
    assert "attachment" in reading.heading(message)
    assert "tool result" in reading.heading(tool)
