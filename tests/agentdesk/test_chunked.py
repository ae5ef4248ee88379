"""Bodies without a length, through the real web server: read no further than they may be."""

from __future__ import annotations

import http.client
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agentdesk.rig import Rig
from tests.factories import native_rounds

pytestmark = pytest.mark.services

LIMIT = 100_000


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with tempfile.TemporaryDirectory(prefix="agentdesk-rig-") as folder:
        made = Rig(Path(folder))
        made.environment["AGENTDESK_MAX_BODY_BYTES"] = str(LIMIT)
        with made as started:
            yield started


def post_in_chunks(rig: Rig, chunks: Iterator[bytes]) -> tuple[int, str]:
    """Status and content type; a server that stops reading may also close the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=30)
    headers = {
        "Authorization": f"Bearer {rig.key}",
        "Content-Type": "application/json",
        "Host": "localhost",
    }
    connection.request("POST", "/api/v1/runs", chunks, headers, encode_chunked=True)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers["Content-Type"]


def test_a_chunked_body_is_read_whole(rig: Rig) -> None:
    body = json.dumps({"run_id": "chunked", "rounds": native_rounds(200)}).encode()
    assert len(body) < LIMIT

    status, _ = post_in_chunks(rig, (body[i : i + 1000] for i in range(0, len(body), 1000)))

    assert status == 202
    assert rig.rows("SELECT size FROM transcripts_delivery") == [(len(body),)]


def test_a_chunked_body_that_is_too_large_is_413(rig: Rig) -> None:
    status, kind = post_in_chunks(rig, (b"x" * 1000 for _ in range(2 * LIMIT // 1000)))

    assert (status, kind) == (413, "application/problem+json")
