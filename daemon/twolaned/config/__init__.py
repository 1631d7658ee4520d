"""What did the person set?

One TOML file, read at start. Every key has a default, so that the file may be missing; a key that
is not known is refused with its path, since it is a typing error or a wish that would go unheard.
"""

from twolaned.config.load import load_settings, settings_json
from twolaned.config.settings import (
    CompactionSettings,
    EmbeddingSettings,
    EnrichmentSettings,
    LimitSettings,
    RankingSettings,
    ServerSettings,
    Settings,
    SourceSettings,
)

__all__ = [
    "CompactionSettings",
    "EmbeddingSettings",
    "EnrichmentSettings",
    "LimitSettings",
    "RankingSettings",
    "ServerSettings",
    "Settings",
    "SourceSettings",
    "load_settings",
    "settings_json",
]
