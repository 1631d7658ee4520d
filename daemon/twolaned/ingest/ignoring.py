"""Which files the person's ignore rules leave out, as git decides it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

RULE_FILES = (".gitignore", ".twolaneignore")
MAX_RULE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder and of those above it.

    *depth* is the length of the folder's path prefix: rules judge paths relative to the folder
    that their file lies in. The innermost rule that says anything decides.
    """

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def with_folder(self, folder: Path, prefix: str, names: Sequence[str]) -> IgnoreRules:
        """These rules and those of the files *names* in *folder*.

        *prefix* is the folder's path from the outermost one, with a slash at its end unless empty.
        """
        specs = list(self.specs)
        for name in names:
            spec = _read(folder / name)
            if spec is not None:
                specs.append((prefix, spec))
        return self if len(specs) == len(self.specs) else IgnoreRules(tuple(specs))

    def with_patterns(self, prefix: str, patterns: Sequence[str]) -> IgnoreRules:
        """These rules and *patterns*, which judge paths below *prefix*."""
        if not patterns:
            return self
        return IgnoreRules((*self.specs, (prefix, _spec(patterns))))

    def ignores(self, path: str) -> bool:
        """Whether *path*, from the outermost folder, is left out; folders end with a slash."""
        for prefix, spec in reversed(self.specs):
            verdict = spec.check_file(path[len(prefix) :]).include
            if verdict is not None:
                return verdict
        return False


def rules_above(root: Path) -> tuple[IgnoreRules, str]:
    """The rules of the repository that *root* lies in, and the path from its top to *root*.

    The path ends with a slash unless it is empty. Outside a repository there are none.
    """
    top = next((f for f in (root, *root.parents) if (f / ".git").exists()), None)
    if top is None:
        return IgnoreRules(), ""
    rules = IgnoreRules()
    exclude = _read(top / ".git" / "info" / "exclude")
    if exclude is not None:
        rules = IgnoreRules((("", exclude),))
    between = root.relative_to(top).parts
    folder, prefix = top, ""
    for part in between:
        rules = rules.with_folder(folder, prefix, RULE_FILES)
        folder, prefix = folder / part, f"{prefix}{part}/"
    return rules, prefix


def _read(file: Path) -> GitIgnoreSpec | None:
    try:
        with file.open("rb") as stream:
            lines = stream.read(MAX_RULE_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:  # no such file, or none that says anything
        return None
    return _spec(lines)


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    # To git `folder/**` is all that lies in the folder; pathspec takes the folder itself too, and
    # then no later rule could bring anything in it back.
    return GitIgnoreSpec.from_lines(
        f"{line.rstrip()}/*" if line.rstrip().endswith("/**") else line for line in lines
    )
