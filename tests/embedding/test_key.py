from __future__ import annotations

import copy
import os
import pickle
import traceback
from pathlib import Path

import pytest

from twolaned.embedding.key import ApiKey, load_key
from twolaned.model.errors import ConfigError

KEY = "pa-TheKeyThatMustNotBeSeen"


def key_file(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    file = folder / "voyage.key"
    file.write_bytes(content)
    file.chmod(mode)
    return file


def loaded(key: ApiKey | None) -> str | None:
    return None if key is None else key.reveal()


def test_the_environment_comes_first(tmp_path: Path) -> None:
    """Then the file, then there is none."""
    file = key_file(tmp_path, b"pa-from-the-file\n")

    assert KEY == loaded(load_key({"VOYAGE_API_KEY": f" {KEY}\n"}, file))
    assert "pa-from-the-file" == loaded(load_key({"VOYAGE_API_KEY": " "}, file))
    assert None is load_key({}, tmp_path / "none.key")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    """The sentence says what to run."""
    file = key_file(tmp_path, KEY.encode(), mode)

    with pytest.raises(ConfigError, match="chmod 600") as caught:
        load_key({}, file)

    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\xff\xfe", b"two words", b"two\nlines", b"k" * 5_000, b"a\x00b"]
)
def test_what_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """It would break the header, or be a file of another kind."""
    with pytest.raises(ConfigError) as caught:
        load_key({}, key_file(tmp_path, content))

    assert "two" not in str(caught.value)


def test_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    """Neither blocks the start."""
    os.mkfifo(tmp_path / "pipe", 0o600)

    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError, match="it is not a file"):
            load_key({}, place)


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """Whoever owns it could read what is put there."""
    file = key_file(tmp_path, KEY.encode())
    os.chown(file, 12_345, 12_345)

    with pytest.raises(ConfigError, match="belongs to somebody else"):
        load_key({}, file)


def test_a_key_in_the_environment_is_checked_too() -> None:
    """A line break in it would be a second header."""
    with pytest.raises(ConfigError, match="VOYAGE_API_KEY") as caught:
        load_key({"VOYAGE_API_KEY": "pa-secret\r\nHost: elsewhere"}, Path("/nowhere"))

    assert "pa-secret" not in str(caught.value)


def test_a_key_does_not_show() -> None:
    """Not in a representation, a format, a pickle or a copy."""
    key = ApiKey(KEY)

    assert KEY not in f"{key} {key!r} {[key]} {key!s:>40}"
    for write in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not written anywhere"):
            write(key)
