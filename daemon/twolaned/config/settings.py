"""The sections of the configuration file, their keys, defaults and ranges."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from twolaned.model.query import RankingDate, Similarity
from twolaned.model.source import Extraction, SourceScope

Provider = Literal["auto", "voyage", "ollama", "builtin", "off"]
EnrichmentProvider = Literal["none", "ollama", "extractive"]
Days = Annotated[int, Meta(ge=1, le=36_500)]
Dimension = Annotated[int, Meta(ge=1, le=4_096)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Text = Annotated[str, Meta(min_length=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file. Unknown keys are refused."""


class EmbeddingSettings(Section, frozen=True):
    """``[embedding]``: who makes vectors of texts. ``off`` means search by keyword alone.

    ``auto`` is Voyage where there is a key, and nobody where there is none. Texts of sources with
    ``extraction = "local"`` go to the provider only if it runs on this machine, else to
    *local_model* of the Ollama server at *ollama_host*.
    """

    provider: Provider = "off"
    model: str = ""
    """Empty takes the provider's default."""
    base_url: str = ""
    output_dimension: Dimension | None = None
    """None takes the model's default."""
    ollama_host: str = ""
    """Empty takes Ollama's own default."""
    local_model: str = ""
    """Empty takes the default one."""
    blend_weight: Share = 0.4
    """The share of meaning in ``ranking.similarity = "blend"``."""


class RankingSettings(Section, frozen=True):
    """``[ranking]``: how the score is made where a request does not say."""

    similarity: Similarity = Similarity.MAX
    date: RankingDate = RankingDate.INDEXED


class SourceSettings(Section, frozen=True):
    """``[[sources]]``: a folder to follow, absolute or with a leading ``~/``."""

    path: Text
    extraction: Extraction = Extraction.DEFAULT
    mode: Literal["scan"] = "scan"
    """``scan`` reads the folder when it is asked to."""
    scope: SourceScope = SourceScope.DOCUMENT
    client_name: str = ""
    exclude: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        if not self.path.startswith(("/", "~/")) and self.path != "~":
            raise ValueError(f"`{self.path}` is not an absolute path")
        if self.client_name and self.scope is not SourceScope.CLIENT:
            raise ValueError('`client_name` needs `scope = "client"`')


class CompactionSettings(Section, frozen=True):
    """``[compaction]``: from which age on a conversation may move to the archive."""

    age_threshold_days: Days = 30


class EnrichmentSettings(Section, frozen=True):
    """``[enrichment]``: who writes weekly digests."""

    provider: EnrichmentProvider = "none"
    model: str = ""


class ServerSettings(Section, frozen=True):
    """``[server]``: how the daemon is reached besides its Unix socket. Off by default."""

    tcp: str = ""
    """``127.0.0.1:PORT`` or ``[::1]:PORT``; empty opens no port."""
    token_file: str = ""
    """Where the token lies that every call over TCP must show; empty is ``token`` in the data
    folder. Absolute, or with a leading ``~/``."""

    def __post_init__(self) -> None:
        if self.token_file and not self.token_file.startswith(("/", "~/")):
            raise ValueError(f"`{self.token_file}` is not an absolute path")


class CaptureSettings(Section, frozen=True):
    """``[capture]``: taking in sessions as they happen. It takes no keys yet."""


class RedactionSettings(Section, frozen=True):
    """``[redaction]``: what is blanked out before it is kept. It takes no keys yet."""


class LimitSettings(Section, frozen=True):
    """``[limits]``: what protects the daemon from too much at once."""

    concurrent_calls: Annotated[int, Meta(ge=1, le=1_024)] = 32
    """Calls that are worked on at the same time."""
    queued_calls: Annotated[int, Meta(ge=0, le=65_536)] = 256
    """Calls that may wait for their turn; one more is refused and told to try again."""
    bulk_calls: Annotated[int, Meta(ge=1, le=64)] = 8
    """Imports, exports, scans and compactions that may be under way."""
    patience_seconds: Annotated[int, Meta(ge=1, le=3_600)] = 60
    """For how long a client may neither read its answers nor send the rest of its upload."""


class Settings(Section, frozen=True):
    """The whole file."""

    embedding: EmbeddingSettings = EmbeddingSettings()
    ranking: RankingSettings = RankingSettings()
    sources: tuple[SourceSettings, ...] = ()
    compaction: CompactionSettings = CompactionSettings()
    enrichment: EnrichmentSettings = EnrichmentSettings()
    server: ServerSettings = ServerSettings()
    capture: CaptureSettings = CaptureSettings()
    redaction: RedactionSettings = RedactionSettings()
    limits: LimitSettings = LimitSettings()

    def __post_init__(self) -> None:
        paths = [source.path.rstrip("/") for source in self.sources]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            raise ValueError(f"`{twice}` stands in two of the sources")
