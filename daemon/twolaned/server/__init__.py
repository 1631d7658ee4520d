"""How does the process start, listen, stop?"""

from __future__ import annotations

import os
from collections.abc import Sequence

_ENVIRONMENT = {
    # Searches are many and small: a pool of threads inside each of them only gets in the way.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # The writer is started as a new program; gRPC's fork handlers could only disturb that.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
}
"""What numpy and gRPC read when they are first imported."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the daemon with *arguments* (None: the process's own). Returns the exit status."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from twolaned.server.run import run

    return run(arguments)
