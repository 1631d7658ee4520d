"""Clients that know nothing but what the server tells of itself."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.support.daemon import Daemon, running
from twolane.v1 import archive_service_pb2 as archive

BUF = Path(sys.executable).with_name("buf")


async def curl(
    daemon: Daemon, method: str, data: dict[str, Any], *options: str
) -> tuple[int, list[Any], str]:
    """Call *method* with `buf curl`, which learns the API by reflection."""
    process = await asyncio.create_subprocess_exec(
        str(BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge",
        "--unix-socket", str(daemon.socket), *options,
        "--data", json.dumps(data), f"http://localhost/twolane.v1.{method}",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "HOME": str(daemon.home)},
    )  # fmt: skip
    out, err = await process.communicate()
    decoder, text, answers = json.JSONDecoder(), out.decode().strip(), []
    while text:
        answer, end = decoder.raw_decode(text)
        answers.append(answer)
        text = text[end:].strip()
    return process.returncode or 0, answers, err.decode()


async def test_a_client_that_learns_the_api_by_reflection_searches() -> None:
    async with running() as daemon:
        request = archive.SaveRequest(source="notes", summary="The ferry leaves at noon.")
        saved = await daemon.archive.Save(request)

        code, answers, err = await curl(daemon, "SearchService/Search", {"query": "ferry noon"})

        assert code == 0, err
        assert answers[-1]["final"]
        assert [result["id"] for result in answers[-1]["results"]] == [saved.id]
        code, answers, _ = await curl(daemon, "SearchService/OpenEvidence", {"id": saved.id})
        assert code == 0
        assert answers[0]["content"] == "The ferry leaves at noon."


async def test_it_is_told_what_was_wrong() -> None:
    """The status, the sentence and the field all arrive."""
    async with running() as daemon:
        code, _, err = await curl(daemon, "SearchService/Search", {"query": "x", "top_k": 999})

        assert code != 0
        told = json.loads(err)
        assert told["code"] == "invalid_argument"
        assert "top_k" in told["message"]
        types = {detail["type"].rpartition(".")[2] for detail in told["details"]}
        assert {"BadRequest", "ErrorInfo"} <= types
