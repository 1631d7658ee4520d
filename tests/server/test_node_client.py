"""A client in another language, on code that is generated from the proto files."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.daemon import running

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "foreign" / "node"


async def run(*command: str, cwd: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "npm_config_update_notifier": "false", "npm_config_fund": "false"},
    )
    out, err = await process.communicate()
    assert process.returncode == 0, f"{' '.join(command)}:\n{err.decode()}"
    return out.decode()


@pytest.mark.slow
@pytest.mark.needs("node", "npm")
@pytest.mark.timeout(300)
async def test_a_client_generated_for_node_saves_searches_and_opens(tmp_path: Path) -> None:
    folder = tmp_path / "client"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"))
    await run("npm", "install", "--no-audit", "--silent", cwd=folder)
    protos = sorted(str(proto) for proto in (ROOT / "proto" / "twolane" / "v1").glob("*.proto"))
    await run(
        "npx", "pbjs", "-t", "static-module", "-w", "commonjs", "-p", str(ROOT / "proto"),
        "-o", "api.cjs", *protos, cwd=folder,
    )  # fmt: skip
    async with running() as daemon:
        told = json.loads(await run("node", "client.mjs", str(daemon.socket), cwd=folder))

    assert told["found"] == [told["saved"]]
    assert told["final"]
    assert told["content"] == "The ferry leaves at noon."
    assert told["refused"]["code"] == 3
    assert "top_k" in told["refused"]["message"]
    assert told["refused"]["hasDetails"]
