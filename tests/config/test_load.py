"""Reading the configuration file."""

from __future__ import annotations

from pathlib import Path

import pytest

from twolaned.config import Settings, SourceSettings, load_settings
from twolaned.model.errors import ConfigError
from twolaned.model.query import RankingDate, Similarity
from twolaned.model.source import Extraction, SourceScope


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(written(folder, text))
    return caught.value


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    """The file may be missing, and an empty one says the same."""
    assert Settings() == load_settings(tmp_path / "config.toml")
    assert Settings() == load_settings(written(tmp_path, ""))


def test_a_file_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    """A path given on the command line is no guess."""
    with pytest.raises(ConfigError, match="there is no such file"):
        load_settings(tmp_path / "config.toml", must_exist=True)


def test_every_section_is_read(tmp_path: Path) -> None:
    """What is written is what is set."""
    path = written(
        tmp_path,
        """
        [embedding]
        provider = "voyage"
        model = "voyage-4-lite"
        base_url = "https://example.org"
        output_dimension = 512
        blend_weight = 0.2
        [ranking]
        similarity = "blend"
        date = "occurred"
        [[sources]]
        path = "~/notes"
        [[sources]]
        path = "/srv/acme"
        extraction = "local"
        mode = "scan"
        scope = "client"
        client_name = "Acme"
        exclude = ["*.tmp"]
        [compaction]
        age_threshold_days = 90
        [enrichment]
        provider = "extractive"
        [server]
        tcp = "127.0.0.1:7777"
        token_file = "~/token"
        [capture]
        [redaction]
        [limits]
        concurrent_calls = 4
        """,
    )

    settings = load_settings(path)

    assert 512 == settings.embedding.output_dimension
    assert (Similarity.BLEND, RankingDate.OCCURRED) == (
        settings.ranking.similarity,
        settings.ranking.date,
    )
    assert settings.sources == (
        SourceSettings(path="~/notes"),
        SourceSettings(
            path="/srv/acme",
            extraction=Extraction.LOCAL,
            scope=SourceScope.CLIENT,
            client_name="Acme",
            exclude=("*.tmp",),
        ),
    )
    assert 90 == settings.compaction.age_threshold_days
    assert (4, 256) == (settings.limits.concurrent_calls, settings.limits.queued_calls)


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        pytest.param("[servr]", "servr", "did you mean `server`?", id="section"),
        pytest.param("[ranking]\nsimilarty = 1", "ranking.similarty", "`similarity`?", id="key"),
        pytest.param("[capture]\non = true", "capture.on", "none is known here", id="no keys"),
        pytest.param(
            '[ranking]\nsimilarity = "sum"',
            "ranking.similarity",
            "possible are `max`, `blend`",
            id="choice",
        ),
        pytest.param(
            '[[sources]]\npath = "/a"\nmode = "watch"', "sources[0].mode", "`scan`", id="mode"
        ),
        pytest.param(
            "[limits]\nconcurrent_calls = 0", "limits.concurrent_calls", ">= 1", id="range"
        ),
        pytest.param(
            "[embedding]\nblend_weight = 1.5", "embedding.blend_weight", "<= 1.0", id="share"
        ),
        pytest.param("[embedding]\nmodel = 3", "embedding.model", "got `int`", id="type"),
        pytest.param('[server]\ntoken_file = "token"', "server", "absolute", id="token"),
        pytest.param('[[sources]]\nscope = "client"', "sources[0].path", "required", id="missing"),
        pytest.param(
            '[[sources]]\npath = "/a"\n[[sources]]\npath = "notes"',
            "sources[1]",
            "`notes` is not an absolute path",
            id="relative",
        ),
        pytest.param(
            '[[sources]]\npath = "/a"\nclient_name = "Acme"', "sources[0]", "scope", id="client"
        ),
        pytest.param(
            '[[sources]]\npath = "/a"\n[[sources]]\npath = "/a/"',
            "",
            "`/a` stands in two",
            id="two",
        ),
    ],
)
def test_a_wrong_key_is_refused_with_its_path(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    """The sentence names the file and the key, and says what would be right."""
    error = refusal(tmp_path, text)

    assert key == error.metadata["key"]
    assert str(tmp_path / "config.toml") == error.metadata["file"]
    assert said in error.message
    assert str(tmp_path / "config.toml") in error.message


def test_what_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    """A slip of the pen is found by its line."""
    assert "line 2" in refusal(tmp_path, "[ranking]\nsimilarity = =\n").message


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A file in another encoding is not guessed at."""
    path = tmp_path / "config.toml"
    path.write_bytes(b"# caf\xe9\n")

    with pytest.raises(ConfigError, match="byte 5 is not UTF-8"):
        load_settings(path)


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    """What cannot be read is said, not passed over."""
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path)
