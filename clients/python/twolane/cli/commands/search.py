"""``twolane search``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twolane.cli import hits, phrases, terminal, text
from twolane.cli.exits import ExitCode
from twolane.cli.filter_options import given, narrowing
from twolane.cli.options import Number, common, settings
from twolane.cli.session import session

if TYPE_CHECKING:
    from twolane.v1.admin_service_pb2 import StatusResponse
    from twolane.v1.search_service_pb2 import SearchResponse


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option(
    "-n", "--top-k", type=Number(1, 200), default=10, show_default=True,
    metavar="N", help="How many results to show, at most 200.",
)  # fmt: skip
@narrowing
@click.option("--here", is_flag=True, help="Narrow documents to the project in this folder.")
@click.option(
    "--cwd", type=click.Path(file_okay=False), metavar="FOLDER",
    help="Narrow documents to the project in that folder.",
)  # fmt: skip
@click.option(
    "--strict-project", is_flag=True,
    help="Show nothing at all of other projects; needs --here or --cwd.",
)  # fmt: skip
@click.option(
    "--detail", type=click.Choice(("normal", "full")), default="normal",
    help="How far to reach: full also searches the archive of old conversations"
    " (with --scope conversations).",
)  # fmt: skip
@click.option(
    "--similarity", type=click.Choice(("max", "blend")),
    help="How keyword and meaning are weighed together. Default: as configured.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Show how the scores and the answer came about.")
@click.option(
    "--partial", is_flag=True,
    help="Show the keyword answer the moment it is there, then the merged one.",
)  # fmt: skip
@common
def command(
    words: tuple[str, ...], here: bool, cwd: str | None, explain: bool, **options: Any
) -> int:
    """Find conversations and documents.

    Words are alternatives; rows that hold more of them, and rarer ones, come first.
    "quoted words" must occur, -word must not, and word* stands for all endings.
    source:, path:, after: and before: filter within the query. Put a query that holds quotes into
    single quotes, and one that begins with a dash behind --.

    \b
    Examples:
      twolane search why did we drop the job queue
      twolane search '"connection refused" postgres' --since 6m
      twolane search retry policy --source claude-code --here
      twolane search --since 2024 -- deadlock -mysql
      twolane search --json -n 3 deadlock | jq -r '.results[].id'
    """
    if here and cwd:
        raise click.UsageError("Give either --here or --cwd.")
    folder = Path.cwd() if here else Path(cwd).expanduser().absolute() if cwd else None
    if options["strict_project"] and folder is None:
        raise click.UsageError("--strict-project needs --here or --cwd FOLDER.")
    options["similarity"] = options["similarity"] or ""
    query = " ".join(words)
    with session() as (client, status):
        answers = client.search(query, cwd=folder or "", explain=explain, **options)
        final = _show(answers, explain=explain, partial=options["partial"])
        if final.results:
            return ExitCode.OK
        if not settings().json:
            narrowed = _narrowing(options, folder is not None and options["strict_project"])
            terminal.note(nothing_found(query, final, status, narrowed))
        return ExitCode.NOTHING


def _show(answers: Any, *, explain: bool, partial: bool) -> SearchResponse:
    from twolane.calls import last
    from twolane.render import to_json

    seen: list[SearchResponse] = []
    for answer in answers:
        if settings().json:
            terminal.out(to_json(answer))
        elif partial and not answer.final:
            terminal.out(terminal.dim("By keyword:"))
            show_results(answer, explain=False)
        elif seen and _ids(seen[-1]) == _ids(answer) and not explain:
            terminal.note(terminal.dim("The merged answer is the same."))
        else:
            if seen:
                terminal.out(terminal.dim("By keyword and meaning:"))
            show_results(answer, explain=explain)
        seen.append(answer)
    final = last(seen, lambda answer: answer.final)
    if not settings().json:
        _remark(final, explain=explain)
    return final


def _ids(answer: SearchResponse) -> list[str]:
    return [result.id for result in answer.results]


def show_results(answer: SearchResponse, *, explain: bool) -> None:
    """Write the results of *answer* for a person."""
    digits = len(str(len(answer.results)))
    for rank, result in enumerate(answer.results, 1):
        for line in hits.hit(result, rank, digits=digits, explain=explain):
            terminal.out(line)
        terminal.out()
    if explain:
        head, *lines = hits.receipt(answer.receipt)
        terminal.out(terminal.bold(head))
        for line in lines:
            terminal.out(line)


def _remark(answer: SearchResponse, *, explain: bool) -> None:
    for part in answer.read_as_text:
        terminal.note(f"{text.line(part)} is no filter and was searched for as words.")
    if answer.degraded:
        why = text.line(answer.receipt.degraded_message) or f"({text.line(answer.degraded_reason)})"
        terminal.warn(f"These are matches by keyword only: {why}")
    if answer.results and not explain:
        found = phrases.count(len(answer.results), "result")
        took = phrases.span(phrases.seconds(answer.receipt.took))
        terminal.note(terminal.dim(f"{found} in {took}. Read one with `twolane open ID`."))


def nothing_found(
    query: str, answer: SearchResponse, status: StatusResponse, narrowed: list[str]
) -> str:
    """Return the sentences that help when nothing was found."""
    if not sum(tier.rows for tier in status.tiers):
        return (
            "The index is empty. Bring something in first:\n"
            "  twolane import PATH        an export, or a folder of agent sessions\n"
            "  twolane source add FOLDER  a folder of documents\n"
            "  twolane up                 finds what there is on this machine"
        )
    options = phrases.listed(narrowed)
    if narrowed and not answer.receipt.rows_in_reach:
        return f"Nothing in the index passes {options}."
    said = text.fit(text.line(query), 60)
    if narrowed:
        return f"Nothing found for {said!r} within {options}. Try it without."
    if '"' in query:
        return f"Nothing found for {said!r}. Quoted words must occur just so: try without quotes."
    endings = "" if "*" in query else ", or `word*` for all its endings"
    return f"Nothing found for {said!r}. Try other words{endings}."


def _narrowing(options: dict[str, Any], strict: bool) -> list[str]:
    return [*given(options), *(["--strict-project"] if strict else [])]
