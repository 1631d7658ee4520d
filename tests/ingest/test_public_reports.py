"""What users of other importers have reported in public, with a small input each.

The name of a test is the report: repository and number. Those whose input is a sample are listed in
`reports.tsv` beside the samples, which `test_samples` reads.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.test_samples import FORMATS, read_all
from twolaned.model.conversation import Conversation, MessageKind

SESSION = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def node(parent: str | None, text: str | None, **message: Any) -> dict[str, Any]:
    if text is None:
        return {"message": None, "parent": parent}
    content = {"content_type": "text", "parts": [text]}
    return {
        "parent": parent,
        "message": {"author": {"role": "user"}, "content": content, **message},
    }


def chatgpt(tmp_path: Path, *conversations: Any) -> list[Conversation]:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(conversations))
    return list(read_all(path).conversations.values())


def line(number: int, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    role = "user" if number % 2 else "assistant"
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": parent,
        "sessionId": SESSION,
        "cwd": "/home/dev/deja-vu",
        "timestamp": f"2026-05-06T10:{number:02}:00.000Z",
        "message": {"role": role, "content": content},
        **fields,
    }


def session(tmp_path: Path, lines: list[Any], *, end: str = "\n", name: str = SESSION) -> Path:
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(record) + end for record in lines))
    return path


def only(path: Path) -> Conversation:
    (conversation,) = read_all(path).conversations.values()
    return conversation


def test_basic_memory_451_a_title_of_null(tmp_path: Path) -> None:
    first, second = chatgpt(
        tmp_path,
        {"id": "a", "title": None, "mapping": {"n": node(None, "Words of mine\nmore")}},
        {"id": "b", "title": "Kept", "mapping": {"n": node(None, "Other")}},
    )
    assert (first.title, second.title) == ("Words of mine", "Kept")


def test_basic_memory_1276_no_create_time(tmp_path: Path) -> None:
    timed, untimed = chatgpt(
        tmp_path,
        {"id": "a", "mapping": {"n": node(None, "One", create_time=1_772_000_000.5)}},
        {"id": "b", "create_time": None, "mapping": {"n": node(None, "Two")}},
    )
    assert (timed.created_at, untimed.created_at) == (1_772_000_000_500, None)


def test_librechat_15388_one_bad_conversation_stops_nothing(tmp_path: Path) -> None:
    found = chatgpt(
        tmp_path,
        {"id": "a", "mapping": {"n": {"message": {"content": 7, "author": []}}}},
        {"id": "b", "mapping": 12},
        None,
        {"id": "c", "mapping": {"n": node(None, "Whole")}},
    )
    assert [c.id for c in found] == ["chatgpt:c"]


def test_chatgpt_exporter_26_a_deep_chain(tmp_path: Path) -> None:
    mapping = {"n0": node(None, "step 0")}
    mapping |= {f"n{i}": node(f"n{i - 1}", f"step {i}") for i in range(1, 20_000)}
    (found,) = chatgpt(tmp_path, {"id": "a", "current_node": "n19999", "mapping": mapping})
    assert len(found.main_line()) == 20_000


def test_claude_code_5034_all_history_again_on_each_turn(tmp_path: Path) -> None:
    lines = [line(i, f"u{i - 1}" if i > 1 else None, f"turn {i}") for i in range(1, 6)]
    repeated = [record for end in range(1, 6) for record in lines[:end]]
    assert [m.text for m in only(session(tmp_path, repeated)).messages] == [
        f"turn {i}" for i in range(1, 6)
    ]


def test_claude_code_48936_lines_doubled_without_their_parent(tmp_path: Path) -> None:
    lines = [line(i, f"u{i - 1}" if i > 1 else None, f"turn {i}") for i in range(1, 5)]
    doubled = [*lines, *({**record, "parentUuid": None} for record in lines)]
    found = only(session(tmp_path, doubled))
    assert [m.text for m in found.main_line()] == [f"turn {i}" for i in range(1, 5)]


def test_claude_code_20367_long_lines_are_not_held(tmp_path: Path) -> None:
    """Lines of megabytes of tool output pass; one above the limit is skipped and counted."""
    huge = {"type": "user", "uuid": "h", "sessionId": SESSION, "toolUseResult": "x" * 3_000_000}
    huge["message"] = {"role": "user", "content": [{"type": "tool_result", "content": "y" * 10}]}
    path = session(tmp_path, [line(1, None, "Before"), huge, line(2, "u1", "After")])
    assert [m.text for m in only(path).messages] == ["Before", "After"]

    from twolaned.ingest.reader import IngestLimits, read
    from twolaned.model.report import Skip

    items = list(read(path, name="s", limits=IngestLimits(max_line_bytes=1 << 20)))
    assert [i.reason for i in items if isinstance(i, Skip)] == ["line_too_long"]
    assert any(isinstance(i, Conversation) and len(i.messages) == 2 for i in items)


def test_claude_code_9221_and_deja_vu_28_the_folder_name_is_never_decoded(tmp_path: Path) -> None:
    for number, cwd in enumerate(("/a/b c", "/a/b-c", "/home/dev/deja-vu")):
        folder = tmp_path / f"-a-b-c-{number}"
        folder.mkdir()
        path = session(folder, [line(1, None, "Where?", cwd=cwd)])
        found = only(path)
        assert (found.cwd, found.project) == (cwd, cwd.rpartition("/")[2])


def test_cohub_161_carriage_returns_and_records_larger_than_a_chunk(tmp_path: Path) -> None:
    text = "a\u2028b" * 60_000
    path = session(tmp_path, [line(1, None, text), line(2, "u1", "Answer")], end="\r\n")
    assert [m.text for m in only(path).messages] == [text, "Answer"]


def test_conversation_extractor_53_ids_are_never_cut(tmp_path: Path) -> None:
    (tmp_path / SESSION / "subagents").mkdir(parents=True)
    session(tmp_path, [line(1, None, "Go"), line(2, "u1", "Going")])
    names = [f"agent-aa{i:05x}" for i in range(40)]
    for name in names:
        record = line(2, None, f"report of {name}", isSidechain=True)
        session(tmp_path / SESSION / "subagents", [record], name=name)
    (found,) = read_all(tmp_path).conversations.values()
    assert found.children == tuple(f"claude-code:{SESSION}/{name}" for name in names)
    said = {m.text for m in found.messages if m.kind is MessageKind.ATTACHMENT}
    assert said == {f"report of {name}" for name in names}


def test_session_resumer_4_seconds_as_a_number(tmp_path: Path) -> None:
    found = only(session(tmp_path, [line(1, None, "Hi", timestamp=1_772_621_481.875)]))
    assert found.messages[0].at == 1_772_621_481_875


def test_pubsec_225_images_in_texts_are_cut_out(tmp_path: Path) -> None:
    text = f"Look: data:image/png;base64,{'iVBORw0KGgo' * 400} there"
    assert only(session(tmp_path, [line(1, None, text)])).messages[0].text == "Look: [image] there"


def test_coding_agent_session_search_364_a_long_session_is_read(tmp_path: Path) -> None:
    """Thousands of messages in one file, in one pass: no line is looked at twice."""
    lines = [line(i, f"u{i - 1}", f"turn {i}", timestamp=None) for i in range(1, 7_679)]
    assert len(only(session(tmp_path, lines)).messages) == 7_678


def test_a_prompt_that_was_edited_leaves_its_branch(tmp_path: Path) -> None:
    """Only what a person asked anew is a branch; parallel tool calls fork all the time."""
    lines = [
        line(1, None, "Which tea?"),
        line(2, "u1", "Green."),
        line(3, "u2", "How hot?"),
        line(4, "u3", "80 degrees."),
        line(5, "u2", "How long?"),
        line(6, "u5", "Two minutes."),
        line(8, "u5", "Or three."),
    ]
    found = only(session(tmp_path, lines))
    assert [m.text for m in found.main_line()] == [
        "Which tea?", "Green.", "How long?", "Two minutes.", "Or three.",
    ]  # fmt: skip
    off = [m.text for m in found.messages if not m.on_main_line]
    assert off == ["How hot?", "80 degrees."]


REPORTS = [
    row.split("\t")
    for row in (FORMATS / "reports.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
"""Reports whose input is one of the samples."""


@pytest.mark.parametrize(("report", "sample"), REPORTS)
def test_a_report_is_a_sample(report: str, sample: str) -> None:
    assert (FORMATS / sample / "expected.json").exists()


def rollout(tmp_path: Path, *records: Any, name: str = f"rollout-x-{SESSION}") -> Path:
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def wrapped(kind: str, payload: dict[str, Any], second: int = 0) -> dict[str, Any]:
    at = f"2026-05-05T10:32:{second:02}.000Z"
    return {"timestamp": at, "type": kind, "payload": payload}


def answer(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return wrapped("response_item", {"type": "message", "role": "assistant", "content": content})


def request(*blocks: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": block} for block in blocks]
    return wrapped("response_item", {"type": "message", "role": "user", "content": content})


def test_xurl_63_each_answer_once(tmp_path: Path) -> None:
    """An answer in two forms is one; the same answer given twice is two."""
    event = wrapped("event_msg", {"type": "agent_message", "message": "Done."})
    path = rollout(
        tmp_path,
        wrapped("session_meta", {"id": SESSION}),
        wrapped("event_msg", {"type": "user_message", "message": "Go"}),
        answer("Done."), event, answer("Done."), event,
    )  # fmt: skip
    assert [m.text for m in only(path).messages] == ["Go", "Done.", "Done."]


def test_ccrider_7_and_memsearch_743_only_response_items(tmp_path: Path) -> None:
    path = rollout(
        tmp_path,
        wrapped("session_meta", {"id": SESSION}),
        request("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nlint\n</INSTRUCTIONS>",
                "<environment_context>\n<cwd>/home/dev/kiosk</cwd>\n</environment_context>"),
        request("<environment_context>a</environment_context>\nWhat broke?"),
        answer("The latch."),
    )  # fmt: skip
    found = only(path)
    assert [m.text for m in found.messages] == ["What broke?", "The latch."]
    assert found.project == "kiosk"


def test_codex_24425_a_torn_line_before_the_whole_one(tmp_path: Path) -> None:
    """The session stays, also where its first line is the bad one: its id is in the file's name."""
    path = rollout(tmp_path, wrapped("event_msg", {"type": "user_message", "message": "Here?"}))
    path.write_text('{"timestamp": "2026-05-05T10:3\n' + path.read_text())
    found = only(path)
    assert (found.id, found.title) == (f"codex:{SESSION}", "Here?")


def test_history_viewer_38b9e583_a_rollout_without_its_head(tmp_path: Path) -> None:
    path = rollout(
        tmp_path,
        wrapped("turn_context", {"cwd": "C:\\work\\kiosk"}),
        wrapped("event_msg", {"type": "user_message", "message": "Still there?"}),
    )
    found = only(path)
    assert (found.id, found.cwd, found.project) == (f"codex:{SESSION}", "C:\\work\\kiosk", "kiosk")


def test_codex_35746_a_number_is_no_identity(tmp_path: Path) -> None:
    first, second = (
        wrapped("event_msg", {"type": "user_message", "message": words}) | {"ordinal": 4}
        for words in ("One", "Two")
    )
    path = rollout(tmp_path, wrapped("session_meta", {"id": SESSION}), first, second)
    assert [m.text for m in only(path).messages] == ["One", "Two"]


def test_the_first_rollouts_were_one_object(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2025-04-20-x.json"
    said = [request("Hello")["payload"], answer("Hi.")["payload"]]
    path.write_text(
        json.dumps({"session": {"id": "abc", "timestamp": "2025-04-20T10:00:00Z"}, "items": said})
    )
    found = only(path)
    assert (found.id, [m.text for m in found.messages]) == ("codex:abc", ["Hello", "Hi."])


def test_rollouts_without_envelopes(tmp_path: Path) -> None:
    head = {"id": SESSION, "timestamp": "2025-08-01T10:00:00Z", "instructions": None, "git": {}}
    path = rollout(
        tmp_path, head, {"record_type": "state"}, request("Bare?")["payload"],
        answer("Bare.")["payload"],
    )  # fmt: skip
    found = only(path)
    assert (found.id, [m.text for m in found.messages]) == (f"codex:{SESSION}", ["Bare?", "Bare."])
