"""A model server on this machine that speaks as OpenAI and Anthropic do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.sdks.agents import anthropic_reply, openai_reply

REPLIES = {"/v1/chat/completions": openai_reply, "/v1/messages": anthropic_reply}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = REPLIES.get(self.path.partition("?")[0])
        body = json.dumps(reply(question, self.asked)).encode() if reply else b"{}"
        self.send_response(200 if reply else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def model_server() -> Iterator[str]:
    """Its address, while it runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
