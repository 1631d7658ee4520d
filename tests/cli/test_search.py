from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Run
from tests.client.fake import FakeDaemon
from twolane.cli import hits, text
from twolane.v1 import common_pb2
from twolane.v1 import search_service_pb2 as pb
from twolane.v1.search_service_pb2 import SearchResponse, SearchResult, Snippet

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def result(number: int = 1, **fields: object) -> SearchResult:
    made = SearchResult(
        id=f"chatgpt:{number}",
        title="Which queue?",
        source="chatgpt",
        score=0.9,
        found_by=pb.FOUND_BY_KEYWORD,
        tier=common_pb2.TIER_HOT,
        **fields,  # type: ignore[arg-type]
    )
    made.snippet.text = "We keep the queue in Postgres."
    made.snippet.matches.add(start=12, end=17)
    made.expand.id, made.expand.offset = made.id, 64
    made.occurred_at.FromSeconds(1715515200)
    return made


def answer(*results: SearchResult, final: bool = True) -> SearchResponse:
    made = SearchResponse(final=final, mode=pb.SEARCH_MODE_LEXICAL, results=results)
    made.receipt.mode = pb.SEARCH_MODE_LEXICAL
    made.receipt.similarity = pb.SIMILARITY_MAX
    made.receipt.ranking_date = pb.RANKING_DATE_INDEXED
    made.receipt.rows_in_reach = 10
    made.receipt.took.FromMicroseconds(3100)
    keyword = made.receipt.lanes.add(lane="keyword", ran=True, candidates=30)
    keyword.took.FromMicroseconds(2100)
    made.receipt.lanes.add(lane="meaning", skipped_because="off")
    made.receipt.tiers_searched.append(common_pb2.TIER_HOT)
    return made


@pytest.fixture
def filled(served: FakeDaemon) -> FakeDaemon:
    """A daemon with rows, one of which is found."""
    served.status.tiers.add(rows=10)
    served.answers = [answer(result(project="billing"))]
    return served


def test_a_result_reads_as_four_lines(run: Run, filled: FakeDaemon) -> None:
    """Rank and title, where it is from, the words around the match, and how to open it."""
    ended = run("search", "queue")

    assert 0 == ended.code
    assert [
        "1  Which queue?",
        "   chatgpt · 2024-05-12 · billing",
        "   We keep the queue in Postgres.",
        "   chatgpt:1 --at 64",
        "",
    ] == ended.out.splitlines()
    assert "1 result in 3.1 ms. Read one with `twolane open ID`.\n" == ended.err


def test_every_option_is_sent(
    run: Run, filled: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All fields of a request can be set from the command line."""
    monkeypatch.chdir(tmp_path)
    run(
        "search", "why", "no broker", "-n", "7", "-s", "chatgpt", "--source", "grok",
        "--scope", "conversations", "--since", "2024-05-12T00:00Z", "--before",
        "2024-06-12T00:00Z", "--quality", "high", "--quality", "low", "--topic", "t",
        "--domain", "d", "--intent", "i", "--decision", "c", "--client", "acme", "--here",
        "--strict-project", "--detail", "full", "--similarity", "blend", "--explain", "--partial",
    )  # fmt: skip

    expected = pb.SearchRequest(
        query="why no broker",
        top_k=7,
        partial=True,
        explain=True,
        cwd=str(tmp_path),
        strict_project=True,
        detail=pb.DETAIL_FULL,
        similarity=pb.SIMILARITY_BLEND,
        filters=pb.Filters(
            scope=pb.SCOPE_CONVERSATIONS,
            sources=["chatgpt", "grok"],
            domain="d",
            intent="i",
            qualities=[common_pb2.QUALITY_HIGH, common_pb2.QUALITY_LOW],
            topic="t",
            decision="c",
            client="acme",
        ),
    )
    expected.filters.since.FromDatetime(datetime(2024, 5, 12, tzinfo=UTC))
    expected.filters.before.FromDatetime(datetime(2024, 6, 12, tzinfo=UTC))
    assert expected == filled.last("Search")


def test_every_field_of_the_api_has_an_option() -> None:
    """A filter that is added to the API is missed here."""
    assert {
        "scope", "sources", "domain", "intent", "qualities", "topic", "decision", "client",
        "since", "before",
    } == set(pb.Filters.DESCRIPTOR.fields_by_name)  # fmt: skip
    assert {
        "query", "top_k", "partial", "explain", "filters", "cwd", "strict_project", "detail",
        "similarity",
    } == set(pb.SearchRequest.DESCRIPTOR.fields_by_name)  # fmt: skip


def test_the_folder_is_sent_only_when_asked(run: Run, filled: FakeDaemon) -> None:
    """A plain search says nothing of where it was made."""
    run("search", "queue")
    assert "" == filled.last("Search").cwd

    run("search", "queue", "--cwd", "~/src")
    assert str(Path.home() / "src") == filled.last("Search").cwd


def test_a_span_counts_back_from_now(run: Run, filled: FakeDaemon) -> None:
    """--since 7d means the last seven days."""
    run("search", "queue", "--since", "7d")

    since = filled.last("Search").filters.since.ToDatetime(tzinfo=UTC)
    assert abs(datetime.now(tz=UTC) - timedelta(days=7) - since) < timedelta(minutes=1)


def test_a_dash_needs_two(run: Run, filled: FakeDaemon) -> None:
    """Words to leave out are not options; the error says how to write them."""
    wrong = run("search", "queue", "-mysql")
    right = run("search", "--", "queue", "-mysql")

    assert 2 == wrong.code
    assert "behind --" in wrong.err
    assert 0 == right.code
    assert "queue -mysql" == filled.last("Search").query


def test_explain_shows_scores_and_the_receipt(run: Run, filled: FakeDaemon) -> None:
    """A person can see from one answer why it is what it is."""
    scored = result()
    scored.score_parts.similarity = 0.8
    scored.score_parts.bm25 = 12.25
    made = answer(scored)
    made.receipt.second_pass = True
    made.receipt.lags.add(source_id="notes", pending_files=2)
    filled.answers = [made]

    out = run("search", "queue", "--explain").out

    for part in (
        "score 0.900 · found by keyword · similarity 0.80",
        "bm25 12.25",
        "mode      lexical; similarity max, by date indexed",
        "keyword   2.1 ms, 30 candidates",
        "meaning   did not run: off",
        "searched  hot; a second pass searched the archive",
        "source    notes: never scanned, 2 files waiting",
        "took      3.1 ms",
    ):
        assert part in out
    assert "cosine" not in out


def test_json_is_the_answer(run: Run, filled: FakeDaemon) -> None:
    """With --json each message of the stream is one line, and nothing else is said."""
    filled.answers = [answer(result(), final=False), answer(result(), result(2))]

    ended = run("search", "queue", "--partial", "--json")

    partial, final = ended.objects
    assert (False, True) == (partial["final"], final["final"])
    assert "lexical" == final["mode"]
    assert ["chatgpt:1", "chatgpt:2"] == [row["id"] for row in final["results"]]
    assert "hot" == final["results"][0]["tier"]
    assert [{"start": 12, "end": 17}] == final["results"][0]["snippet"]["matches"]
    assert "" == ended.err


def test_partial_answers_are_told_apart(run: Run, filled: FakeDaemon) -> None:
    """The keyword answer comes first; the merged one only if it differs."""
    filled.answers = [answer(result(), final=False), answer(result(2), result())]
    differs = run("search", "queue", "--partial")
    filled.answers = [answer(result(), final=False), answer(result())]
    same = run("search", "queue", "--partial")

    assert differs.out.index("By keyword:") < differs.out.index("By keyword and meaning:")
    assert 1 == same.out.count("Which queue?")
    assert "The merged answer is the same." in same.err


def test_a_degraded_answer_says_so(run: Run, filled: FakeDaemon) -> None:
    """Why the meaning lane is missing stands beside the results, not among them."""
    made = answer(result())
    made.degraded = made.receipt.degraded = True
    made.receipt.degraded_message = "The provider did not answer in time."
    filled.answers = [made]

    ended = run("search", "queue")

    assert "keyword only: The provider did not answer in time." in ended.err
    assert "provider" not in ended.out


def test_what_was_read_as_text_is_said(run: Run, filled: FakeDaemon) -> None:
    """A filter that is none is not passed over in silence."""
    made = answer(result())
    made.read_as_text.append("form:x")
    filled.answers = [made]

    assert "form:x is no filter" in run("search", "form:x").err


def test_an_empty_index_says_how_to_fill_it(run: Run, served: FakeDaemon) -> None:
    """The first search of a newcomer is not a dead end."""
    ended = run("search", "queue")

    assert 1 == ended.code
    assert "" == ended.out
    for command in ("twolane import PATH", "twolane source add FOLDER", "twolane up"):
        assert command in ended.err


@pytest.mark.parametrize(
    ("arguments", "in_reach", "sentence"),
    [
        pytest.param(["queue"], 10, "Try other words, or `word*` for", id="words"),
        pytest.param(["queue*"], 10, "Try other words.", id="endings"),
        pytest.param(['"a queue"'], 10, "Quoted words must occur just so", id="quotes"),
        pytest.param(
            ["queue", "--since", "7d", "--topic", "x"], 10, "--since and --topic", id="options"
        ),
        pytest.param(["x", "--scope", "documents"], 0, "Nothing in the index passes --scope",
                     id="nothing in reach"),
    ],
)  # fmt: skip
def test_nothing_found_helps(
    run: Run, filled: FakeDaemon, arguments: list[str], in_reach: int, sentence: str
) -> None:
    """What to try next depends on what was asked; the exit code says that nothing was found."""
    filled.answers = [answer()]
    filled.answers[0].receipt.rows_in_reach = in_reach

    ended = run("search", *arguments)

    assert 1 == ended.code
    assert "" == ended.out
    assert sentence in ended.err


def test_nothing_found_as_json(run: Run, filled: FakeDaemon) -> None:
    """A program gets the empty answer and the exit code."""
    filled.answers = [answer()]

    ended = run("search", "queue", "--json")

    assert (1, [], "") == (ended.code, ended.objects[0]["results"], ended.err)


def test_colour_is_for_terminals(
    run: Run, filled: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No colour in a pipe; FORCE_COLOR asks for it, and NO_COLOR has the last word."""
    plain = run("search", "queue")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run("search", "queue")
    json = run("search", "queue", "--json")
    monkeypatch.setenv("NO_COLOR", "1")
    refused = run("search", "queue")

    assert "\x1b" not in plain.out + plain.err + json.out + refused.out + refused.err
    assert "\x1b[33m\x1b[1mqueue\x1b[0m" in coloured.out
    assert plain.out == ESCAPES.sub("", coloured.out)


def test_stored_text_does_not_steer_the_terminal(
    run: Run, filled: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escape sequences in titles, ids, sources and snippets are shown, not obeyed."""
    evil = "\x1b[2J\x1b]0;pwned\x07\r\n\x9b31m\u202e"
    hostile = result(project=evil)
    hostile.title = hostile.source = hostile.snippet.text = evil + " x"
    hostile.expand.id = "a:" + evil
    made = answer(hostile)
    made.read_as_text.append(evil)
    filled.answers = [made]
    monkeypatch.setenv("FORCE_COLOR", "1")

    ended = run("search", "queue", "--explain")

    for stream in (ended.out, ended.err):
        bare = ESCAPES.sub("", stream)
        assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e"} & set(bare)
    assert "␛[2J" in ended.out


@pytest.mark.parametrize("columns", [24, 40, 80, 300])
def test_lines_fit_the_terminal(
    run: Run, filled: FakeDaemon, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Titles, facts and snippets keep to the width, also in wide characters; ids stay whole."""
    long = result(project="a very long name of a project indeed " * 3)
    long.title = "データベースの接続プールについての長い会話" * 3
    long.snippet.text = "キューの長さを監視し、" * 20
    filled.answers = [answer(long)]
    monkeypatch.setenv("COLUMNS", str(columns))

    *lines, pointer = run("search", "queue").out.rstrip().splitlines()

    assert all(text.width(line) <= min(columns, 100) for line in lines)
    assert 5 == len(lines)
    assert "   chatgpt:1 --at 64" == pointer


def test_ids_can_be_pasted(run: Run, filled: FakeDaemon) -> None:
    """An id with spaces is quoted for the shell."""
    spaced = result()
    spaced.expand.id = "documents:/notes:a plan.md"
    filled.answers = [answer(spaced)]

    assert "'documents:/notes:a plan.md' --at 64" in run("search", "queue").out


def test_facts_name_what_is_particular(
    run: Run, filled: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive, copies, generated reports and abandoned words are marked."""
    monkeypatch.setenv("COLUMNS", "100")
    marked = result(generated=True, duplicate_count=2, passage_kind=pb.PASSAGE_KIND_OFF_BRANCH)
    marked.tier = common_pb2.TIER_COLD
    filled.answers = [answer(marked)]

    assert "archive · abandoned words · generated · 2 copies folded" in run("search", "q").out


@given(
    words=st.lists(
        st.sampled_from(["queue", "語語語", "a", "x" * 30, "\x1b[1m", "\n", "é"]), max_size=60
    ),
    cells=st.integers(12, 90),
    marks=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12)), max_size=5),
)
@settings(max_examples=150, deadline=None)
def test_snippets_fit_and_are_harmless(
    words: list[str], cells: int, marks: list[tuple[int, int]]
) -> None:
    """However long, wide or hostile a snippet, at most three lines that fit come out."""
    cut = Snippet(text=" ".join(words))
    for start, length in marks:
        cut.matches.add(start=start, end=start + length)

    lines = [ESCAPES.sub("", line) for line in hits.snippet(cut, cells)]

    assert len(lines) <= hits.SNIPPET_LINES
    assert all(text.width(line) <= cells for line in lines)
    assert not any("\x1b" in line for line in lines)


@given(st.integers(0, 300), st.integers(20, 90))
@settings(max_examples=60, deadline=None)
def test_the_first_match_is_shown(before: int, cells: int) -> None:
    """Wherever a match stands in a snippet, it is on the lines that are shown, and marked."""
    stored = ("word " * 80)[:before] + " NEEDLE " + "tail " * 30
    at = stored.index("NEEDLE")
    cut = Snippet(text=stored, matches=[pb.Span(start=at, end=at + 6)])

    assert any("\x1b[33m\x1b[1mNEEDLE\x1b[0m" in line for line in hits.snippet(cut, cells))
