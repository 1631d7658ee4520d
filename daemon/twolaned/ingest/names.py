"""Names of files and folders that say enough about what is in them."""

from __future__ import annotations

import fnmatch
import re

FOLDERS = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", ".venv", "venv",
        "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".tox",
        ".nox", ".cache", ".gradle", ".terraform", ".next", ".nuxt", ".svelte-kit", ".turbo",
        ".parcel-cache", ".yarn", ".pnpm-store", ".bundle", ".eggs", ".idea", ".vs", "DerivedData",
        "__MACOSX", ".ipynb_checkpoints",
    }
)  # fmt: skip
"""Folders that tools fill by themselves and that can be made anew."""

TOOL_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files by which a tool says that the whole folder around them is its own."""

_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".kube", ".password-store"})

_SECRET = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "id_rsa*", "id_ed25519*", "id_ecdsa*", "id_dsa*", ".netrc", "_netrc", ".pgpass", ".npmrc",
    ".pypirc", ".htpasswd", "credentials", "credentials.json", "*.tfstate", "*.tfstate.*",
    ".git-credentials", "secrets.yaml", "secrets.yml", "secrets.json", "secrets.toml",
)  # fmt: skip
_PUBLIC = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub")
_MACHINE = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
    "Cargo.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "composer.lock",
    "Gemfile.lock", "go.sum", "flake.lock", "packages.lock.json", "Podfile.lock", "*.min.js",
    "*.min.css", "*.map", "*.svg", ".git",
)  # fmt: skip
_BINARY = frozenset(
    """
    7z a aac aiff apk avi avif bin bmp bz2 cab class dat db dex dll dmg doc docx dylib eot exe
    flac gif gz heic icns ico iso jar jpeg jpg lib lz4 lzma m4a m4v mdb mkv mov mp3 mp4 mpeg mpg
    msi nib npy npz o obj odp ods odt ogg otf parquet pdf pkl png ppt pptx psd pyc pyd pyo rar
    rlib so sqlite sqlite3 tar tgz tif tiff ttf wasm wav webm webp whl wmv woff woff2 xls xlsx
    xz zip zst
    """.split()
)


def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns), re.IGNORECASE)


_SECRET_NAMES, _PUBLIC_NAMES, _MACHINE_NAMES = map(_matcher, (_SECRET, _PUBLIC, _MACHINE))


def reason_to_skip_folder(name: str) -> str:
    """Why a folder of this *name* is not entered; empty where it may be."""
    if name in FOLDERS:
        return "tool_folder"
    return "secret_file" if name in _SECRET_FOLDERS else ""


def reason_to_skip(name: str) -> str:
    """Why a file of this *name* is not read; empty where it may be.

    ``secret_file`` holds keys, ``machine_file`` is written and read by tools only, ``binary`` is no
    text.
    """
    if _SECRET_NAMES.match(name) and not _PUBLIC_NAMES.match(name):
        return "secret_file"
    if _MACHINE_NAMES.match(name):
        return "machine_file"
    return "binary" if name.rpartition(".")[2].lower() in _BINARY and "." in name else ""
