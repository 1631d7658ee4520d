"""Which files the person's ignore rules leave out, as git decides it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from twolaned.ingest.git_facts import repository_above, shared_folder
from twolaned.ingest.patterns import Patterns
from twolaned.ingest.plain_files import rule_lines

_GIT_RULES = ".gitignore"
_OWN_RULES = ".twolaneignore"


@dataclass(frozen=True, slots=True)
class _RuleFile:
    prefix: str
    """The path from the outermost folder to the one whose entries are judged."""
    patterns: Patterns
    of_repository: bool
    """Whether the rules end where another repository begins."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder and of those above it, innermost last.

    A rule judges paths relative to the folder that its file lies in. The innermost file that says
    anything decides, in it the last pattern.
    """

    files: tuple[_RuleFile, ...] = ()
    in_repository: bool = False

    def with_folder(self, folder: Path, prefix: str, names: Collection[str]) -> IgnoreRules:
        """These rules and those of *folder*, which holds *names*.

        *prefix* is the folder's path from the outermost one, with a slash at its end unless empty.
        """
        found = self
        if _GIT_RULES in names:
            found = found._with(prefix, rule_lines(folder / _GIT_RULES), self.in_repository)
        if _OWN_RULES in names:
            found = found._with(prefix, rule_lines(folder / _OWN_RULES), of_repository=False)
        return found

    def with_patterns(self, prefix: str, patterns: Sequence[str]) -> IgnoreRules:
        """These rules and *patterns*, which judge paths below *prefix*."""
        return self._with(prefix, patterns, of_repository=False)

    def in_another_repository(self, top: Path, prefix: str) -> IgnoreRules:
        """What of these rules holds in the repository *top*, and what is its own.

        The rules of one repository say nothing about the files of another inside it.
        """
        rest = tuple(file for file in self.files if not file.of_repository)
        exclude = rule_lines(shared_folder(top) / "info" / "exclude")
        return IgnoreRules(rest, in_repository=True)._with(prefix, exclude, of_repository=True)

    def ignores(self, path: str) -> bool:
        """Whether *path*, from the outermost folder, is left out; folders end with a slash."""
        for file in reversed(self.files):
            verdict = file.patterns.verdict(path[len(file.prefix) :])
            if verdict is not None:
                return verdict
        return False

    def _with(self, prefix: str, lines: Sequence[str], of_repository: bool) -> IgnoreRules:
        patterns = Patterns.of(lines)
        if not patterns.rules:
            return self
        file = _RuleFile(prefix, patterns, of_repository)
        return IgnoreRules((*self.files, file), self.in_repository)


def rules_above(root: Path) -> tuple[IgnoreRules, str]:
    """The rules of the repository that *root* lies in, and the path from its top to *root*.

    The path ends with a slash unless it is empty. Outside a repository there are none, and none
    where they leave out *root* itself: whoever named that folder wants what is in it.
    """
    top = repository_above(root)
    if top is None:
        return IgnoreRules(), ""
    rules = IgnoreRules().in_another_repository(top, "")
    folder, prefix = top, ""
    for part in root.relative_to(top).parts:
        rules = rules.with_folder(folder, prefix, (_GIT_RULES, _OWN_RULES))
        folder, prefix = folder / part, f"{prefix}{part}/"
        if rules.ignores(prefix):
            below = root.relative_to(top).as_posix()
            return IgnoreRules(in_repository=True), f"{below}/"
    return rules, prefix
