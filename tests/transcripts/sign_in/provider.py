"""An OpenID Connect provider, run by `python -m tests.transcripts.sign_in.provider`.

The provider is oidc-provider-mock's (authlib behind HTTP). Around it stands what real ones have and
it lacks, PKCE, and faults that are switched on by `PUT /faults`. Prints its port.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

Answer = tuple[str, list[tuple[str, str]], bytes]


class Provider:
    """The WSGI application. Faults: `nonce`, `token_issuer`, `issuer`, `signature`, `unsigned`,
    `no_id_token`, `keys`.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self.app = app
        self.faults: set[str] = set()
        self.challenges: dict[str, str] = {}

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        status, headers, body = self.answer(environ)
        headers = [(name, value) for name, value in headers if name.lower() != "content-length"]
        start(status, [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def answer(self, environ: dict[str, Any]) -> Answer:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == "/faults":
            self.faults = set(json.loads(self.read(environ)))
            return "204 No Content", [], b""
        if path == "/oauth2/authorize" and method == "POST":
            return self.authorize(environ)
        if path == "/oauth2/token":
            return self.token(environ)
        answer = self.call(environ)
        if path.startswith("/.well-known") and "issuer" in self.faults:
            return self.changed(answer, issuer="https://issuer.evil.example")
        if path == "/jwks" and "keys" in self.faults:
            return self.changed(answer, keys=[])
        return answer

    def authorize(self, environ: dict[str, Any]) -> Answer:
        query = dict(parse_qsl(environ["QUERY_STRING"]))
        if query.get("code_challenge_method") != "S256" or not query.get("state"):
            return "400 Bad Request", [], b"PKCE and state are required"
        if "nonce" in self.faults:
            query["nonce"] = "of-another-sign-in"
        environ["QUERY_STRING"] = urlencode(query)
        answer = self.call(environ)
        location = dict(answer[1]).get("Location", "")
        if "error=" in location and "state=" not in location:
            # RFC 6749 asks for it; the provider forgets it.
            return answer[0], [("Location", f"{location}&state={query['state']}")], b""
        if code := parse_qs(urlsplit(location).query).get("code"):
            self.challenges[code[0]] = query["code_challenge"]
        return answer

    def token(self, environ: dict[str, Any]) -> Answer:
        form = dict(parse_qsl(self.read(environ)))
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if self.challenges.pop(form.get("code", ""), None) != challenge:
            return "400 Bad Request", [], b'{"error": "invalid_grant", "why": "PKCE"}'
        if "token_issuer" in self.faults:
            environ["HTTP_HOST"] = "issuer.evil.example"
        answer = self.call(environ)
        token = json.loads(answer[2]).get("id_token", "")
        if "signature" in self.faults:
            head, claims, signature = token.split(".")
            return self.changed(answer, id_token=f"{head}.{claims}.{signature[::-1]}")
        if "unsigned" in self.faults:
            head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
            return self.changed(answer, id_token=f"{head}.{token.split('.')[1]}.")
        if "no_id_token" in self.faults:
            return self.changed(answer, id_token="")
        return answer

    def call(self, environ: dict[str, Any]) -> Answer:
        told: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            told.extend((status, headers))

        body = b"".join(self.app(environ, start))
        return told[0], told[1], body

    @staticmethod
    def changed(answer: Answer, **members: Any) -> Answer:
        return answer[0], answer[1], json.dumps({**json.loads(answer[2]), **members}).encode()

    @staticmethod
    def read(environ: dict[str, Any]) -> str:
        """The body, which the provider behind can read once more."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        return str(body.decode())


def main() -> None:
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    from oidc_provider_mock import app
    from werkzeug.serving import make_server

    inner = app(require_client_registration=True, require_nonce=True)
    server = make_server("127.0.0.1", 0, Provider(inner.wsgi_app), threaded=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
