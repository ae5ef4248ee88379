"""Questions to the API of a peer on this machine."""

from __future__ import annotations

import http.client
import json
from typing import Any


def asked(port: int, path: str, question: dict[str, Any]) -> Any:
    """The answer to a question by POST, both JSON; empty where it is not a 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(question), headers)
        answer = connection.getresponse()
        body = answer.read()
        return json.loads(body) if answer.status == http.client.OK else {}
    finally:
        connection.close()
