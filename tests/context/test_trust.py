from __future__ import annotations

import pytest

from twolaned.context.git_state import FileState
from twolaned.context.pack import Trust
from twolaned.context.trust import by_name, judge
from twolaned.model.row import RowKind


@pytest.mark.parametrize(
    ("path", "trust", "reason"),
    [
        ("/p/src/app.py", Trust.LIVE_STATE, "source_code"),
        ("/p/install.sh", Trust.LIVE_STATE, "source_code"),
        ("/p/package.json", Trust.LIVE_STATE, "config"),
        ("/p/config.json", Trust.LIVE_STATE, "config"),
        ("/p/Dockerfile", Trust.LIVE_STATE, "build_or_config"),
        ("/p/requirements.txt", Trust.LIVE_STATE, "build_or_config"),
        ("/p/src/status.go", Trust.LIVE_STATE, "source_code"),
        ("/p/PROJECT_STATE.md", Trust.TRACKER, "state_file"),
        ("/p/TODO.md", Trust.TRACKER, "state_file"),
        ("/p/docs/todo", Trust.TRACKER, "state_file"),
        ("/p/CHANGELOG.md", Trust.TRACKER, "state_file"),
        ("/p/notes/2026-02-11-cache.md", Trust.TRACKER, "dated_note"),
        ("/p/notes/20260211.md", Trust.TRACKER, "dated_note"),
        ("/p/docs/adr/0001-use-grpc.md", Trust.TRACKER, "decision_record"),
        ("/p/README.md", Trust.COMMITTED_DOC, "readme"),
        ("/p/README", Trust.COMMITTED_DOC, "readme"),
        ("/p/CLAUDE.md", Trust.COMMITTED_DOC, "agent_rules"),
        ("/p/AGENTS.md", Trust.COMMITTED_DOC, "agent_rules"),
        ("/p/docs/prd.md", Trust.COMMITTED_DOC, "document"),
        ("/p/docs/statement.md", Trust.COMMITTED_DOC, "document"),
        ("", Trust.COMMITTED_DOC, "document"),
    ],
)
def test_a_name_says_what_a_file_is(path: str, trust: Trust, reason: str) -> None:
    """What runs, what records state, what frames; each with a stable word that says why."""
    judged = by_name(path)

    assert (trust, reason) == (judged.trust, judged.reason)


@pytest.mark.parametrize(
    ("state", "trust", "reason"),
    [
        (FileState.TRACKED, Trust.LIVE_STATE, "source_code"),
        (FileState.UNTRACKED, Trust.DISCOUNTED, "untracked"),
        (FileState.DELETED, Trust.DISCOUNTED, "deleted"),
        (FileState.NO_REPOSITORY, Trust.LIVE_STATE, "source_code"),
        (FileState.GIT_UNAVAILABLE, Trust.LIVE_STATE, "source_code"),
    ],
)
def test_what_git_does_not_know_is_discounted(state: FileState, trust: Trust, reason: str) -> None:
    """Git has the last word where it can be asked; elsewhere the kind alone decides."""
    judged = judge(RowKind.DOCUMENT, "/p/a.py", state=state)

    assert (trust, reason) == (judged.trust, judged.reason)


def test_what_a_tool_wrote_is_discounted() -> None:
    """A generated report is no evidence however it is named and tracked."""
    judged = judge(RowKind.DOCUMENT, "/p/TODO.md", generated=True, state=FileState.TRACKED)

    assert (Trust.DISCOUNTED, "generated_report") == (judged.trust, judged.reason)


@pytest.mark.parametrize("kind", [RowKind.CONVERSATION, RowKind.DIGEST])
def test_talk_is_discussion(kind: RowKind) -> None:
    """No conversation is an authority for what is true now."""
    assert judge(kind, "/p/a.py").trust is Trust.DISCUSSION
