"""From a file's bytes to a document."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from twolaned.ingest.decoding import text_of
from twolaned.ingest.generated import says_generated
from twolaned.ingest.text import clean
from twolaned.ingest.titles import title_of
from twolaned.model.document import Document
from twolaned.model.report import Skip

_MARKDOWN = frozenset(
    """
    md markdown mdx mdown qmd rmd
    """.split()
)
_TEXT = frozenset(
    """
    txt text rst adoc asciidoc org tex log srt vtt csv tsv
    """.split()
)
_CONFIG = frozenset(
    """
    json jsonc json5 yaml yml toml ini cfg conf properties xml plist env editorconfig hcl tf
    """.split()
)
_CODE = frozenset(
    """
    py pyi js mjs cjs jsx ts tsx go rs java kt kts scala c h cc cpp cxx hpp hh m mm cs fs rb php
    pl pm lua swift dart ex exs erl hrl hs ml mli clj cljs el lisp scm r jl sh bash zsh fish ps1
    bat cmd sql proto thrift graphql gql vue svelte html htm css scss sass less nix zig v vim
    asm s gradle groovy cmake mk bzl sol
    """.split()
)
_CODE_NAMES = frozenset(
    """
    makefile dockerfile rakefile gemfile justfile jenkinsfile vagrantfile
    """.split()
)
_HEADING = re.compile(r"^[^\S\n]{0,3}#{1,6}[^\S\n]+\S", re.MULTILINE)
_KEY = re.compile(rb"\s*(?:-----BEGIN [A-Z ]*PRIVATE KEY|PuTTY-User-Key-File)")


def document_of(
    *,
    root: str,
    path: str,
    data: bytes,
    modified_at: int | None,
    project: str | None = None,
    generated: bool | None = None,
) -> Document | Skip:
    """The document that the file *path* below *root* is, or why it is none.

    *generated* is what the repository's attributes say; None leaves it to the text.
    """
    if not data.strip(b" \t\r\n\f\0"):
        return Skip("empty_file", path)
    if _KEY.match(data):
        return Skip("secret_file", path, size=len(data))
    text = text_of(data)
    if text is None:
        return Skip("binary", path, size=len(data))
    text = clean(text)
    name = unicodedata.normalize("NFC", path)
    syntax = syntax_of(name, text)
    return Document(
        root=root,
        path=name,
        title=title_of(name, text, syntax),
        text=text,
        project=project,
        modified_at=modified_at,
        generated=says_generated(text, syntax) if generated is None else generated,
        syntax=syntax,
    )


def syntax_of(path: str, text: str) -> str:
    """``markdown``, ``text``, ``code`` or ``config``, by the name's ending, else by the text."""
    name = PurePosixPath(path).name.lower()
    ending = name.rpartition(".")[2] if "." in name[1:] else ""
    for syntax, endings in (
        ("markdown", _MARKDOWN), ("text", _TEXT), ("config", _CONFIG), ("code", _CODE)
    ):  # fmt: skip
        if ending in endings:
            return syntax
    if name in _CODE_NAMES or text.startswith("#!"):
        return "code"
    return "markdown" if not ending and _HEADING.search(text[:4_000]) else "text"
