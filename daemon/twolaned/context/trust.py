"""How far a source can be trusted, from what it is and from what git says of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from twolaned.context.git_state import FileState
from twolaned.context.pack import Trust
from twolaned.model.row import RowKind

_LIVE_ENDINGS = frozenset(
    """
    py pyi js mjs cjs jsx ts mts cts tsx go rs java kt kts scala c h cc cpp cxx hpp hh m mm cs fs
    rb php pl pm lua swift dart ex exs erl hrl hs ml mli clj cljs el lisp jl r sh bash zsh fish ps1
    bat cmd sql proto thrift graphql gql vue svelte html htm css scss sass less nix zig v asm s
    gradle groovy cmake mk bzl sol json jsonc json5 yaml yml toml ini cfg conf properties xml plist
    env editorconfig hcl tf tfvars lock service timer
    """.split()
)
_LIVE_NAMES = frozenset(
    """
    makefile dockerfile containerfile rakefile gemfile justfile jenkinsfile vagrantfile procfile
    brewfile pipfile codeowners requirements.txt constraints.txt cmakelists.txt go.mod go.sum
    robots.txt .gitignore .gitattributes .npmrc .nvmrc .python-version .tool-versions
    """.split()
)
_STATE_WORDS = (
    "state status todo todos tasks backlog roadmap progress plan plans changelog changes history"
    " milestones kanban worklog journal log handoff handover next open-questions known-issues"
    " risks issues sprint standup decisions decision-log adr adrs"
).split()
_STATE_NAME = re.compile(
    rf"(?:^|[-_. ])(?:{'|'.join(map(re.escape, _STATE_WORDS))})(?:[-_. ]|$)", re.IGNORECASE
)
_DATED = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])(?!\d)"
)
_RECORD_FOLDERS = frozenset({"adr", "adrs", "decisions", "decision-records", "rfcs", "rfc"})
_AGENT_RULES = frozenset(
    """
    claude.md claude.local.md agents.md agent.md gemini.md .cursorrules .windsurfrules
    copilot-instructions.md contributing.md conventions.md styleguide.md
    """.split()
)
PROSE: Final = frozenset({"md", "markdown", "mdx", "txt", "rst", "adoc", "org", "text", ""})


@dataclass(frozen=True, slots=True)
class Judgement:
    """A level of trust, and a stable word that says why."""

    trust: Trust
    reason: str


CONVERSATION: Final = Judgement(Trust.DISCUSSION, "conversation")
DIGEST: Final = Judgement(Trust.DISCUSSION, "digest")

_DISCOUNTED = {
    FileState.UNTRACKED: Judgement(Trust.DISCOUNTED, "untracked"),
    FileState.DELETED: Judgement(Trust.DISCOUNTED, "deleted"),
}


def judge(
    kind: RowKind,
    path: str | None,
    *,
    generated: bool = False,
    state: FileState = FileState.NO_REPOSITORY,
) -> Judgement:
    """Judge a row by its *kind*, a document by its *path* (its id where it has none).

    A document that a tool wrote, that git does not track or that is gone is discounted whatever
    its name. Without a repository, or where git cannot be asked, a name alone decides.
    """
    if kind is RowKind.CONVERSATION:
        return CONVERSATION
    if kind is RowKind.DIGEST:
        return DIGEST
    if generated:
        return Judgement(Trust.DISCOUNTED, "generated_report")
    return _DISCOUNTED.get(state) or by_name(path or "")


def by_name(path: str) -> Judgement:
    """What the document *path* is by its name alone."""
    place = PurePosixPath(path)
    name = place.name.lower()
    stem, _, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    if name in _AGENT_RULES or "rules" in (p.lower() for p in place.parts[-3:-1]):
        return Judgement(Trust.COMMITTED_DOC, "agent_rules")
    if name in _LIVE_NAMES:
        return Judgement(Trust.LIVE_STATE, "build_or_config")
    if ending in _LIVE_ENDINGS and ending not in PROSE:
        config = {"json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf", "env"}
        return Judgement(Trust.LIVE_STATE, "config" if ending in config else "source_code")
    if _DATED.search(stem):
        return Judgement(Trust.TRACKER, "dated_note")
    if any(part.lower() in _RECORD_FOLDERS for part in place.parts[:-1]):
        return Judgement(Trust.TRACKER, "decision_record")
    if stem.startswith("readme"):
        return Judgement(Trust.COMMITTED_DOC, "readme")
    if _STATE_NAME.search(stem):
        return Judgement(Trust.TRACKER, "state_file")
    return Judgement(Trust.COMMITTED_DOC, "document")
