"""Where the log goes."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from twolaned.model.errors import ConfigError

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FILE_BYTES = 8 << 20
"""Size at which a log file is put aside."""
FILES_KEPT = 3


def set_up_logging(level: str, file: Path | None) -> None:
    """Log to standard error, and to *file* as well if one is given. Raises ConfigError."""
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if file is not None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handlers.append(
                RotatingFileHandler(
                    file, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8"
                )
            )
        except OSError as e:
            raise ConfigError(
                f"The log file {file} cannot be written: {e.strerror}. Choose another."
            ) from e
    logging.basicConfig(level=level.upper(), format=FORMAT, handlers=handlers, force=True)
    # gRPC's asyncio logs every failed call with its traceback; the interceptor does that better.
    logging.getLogger("grpc").setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
