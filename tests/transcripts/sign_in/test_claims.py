"""What an id token must say. The keys are made here, so that each wrong token is well signed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from transcripts.single_sign_on.claims import ClaimError, claims_read

KEY, OTHER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
ISSUER, CLIENT, NONCE = "https://id.example", "agentdesk", "n-1"


def public(key: Any, **members: str) -> dict[str, Any]:
    found = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())
    return {**json.loads(found), "kid": "k1", "use": "sig", **members}


def token(
    *,
    key: Any = KEY,
    algorithm: str = "RS256",
    kid: str | None = "k1",
    drop: tuple[str, ...] = (),
    **more: Any,
) -> str:
    now = int(time.time())
    claims = {
        "iss": ISSUER, "aud": CLIENT, "sub": "nia", "nonce": NONCE, "iat": now, "exp": now + 300,
    }  # fmt: skip
    kept = {name: value for name, value in {**claims, **more}.items() if name not in drop}
    return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid} if kid else None)


def read(text: str, *, keys: list[dict[str, Any]] | None = None, nonce: str = NONCE) -> Any:
    found = {"keys": [public(KEY)] if keys is None else keys}
    return claims_read(text, keys=found, issuer=ISSUER, client_id=CLIENT, nonce=nonce)


def test_a_right_token_is_believed() -> None:
    assert read(token())["sub"] == "nia"
    assert read(token(aud=[CLIENT, "other"], azp=CLIENT))["sub"] == "nia"
    assert read(token(kid=None))["sub"] == "nia"
    assert read(token(algorithm="PS256"))["sub"] == "nia"


@pytest.mark.parametrize(
    "made",
    [
        pytest.param({"iss": "https://evil.example"}, id="another issuer"),
        pytest.param({"iss": ISSUER + "/"}, id="an issuer that only looks alike"),
        pytest.param({"aud": "other"}, id="another client"),
        pytest.param({"aud": [CLIENT, "other"], "azp": "other"}, id="made for another client"),
        pytest.param({"exp": int(time.time()) - 120}, id="too old"),
        pytest.param({"iat": int(time.time()) + 3600}, id="from the future"),
        pytest.param({"nonce": "n-2"}, id="another sign-in"),
        pytest.param({"key": OTHER}, id="another key"),
        pytest.param({"kid": "k2"}, id="a key that is not named"),
        *(
            pytest.param({"drop": (name,)}, id=f"no {name}")
            for name in ("iss", "aud", "sub", "exp", "iat", "nonce")
        ),
    ],
)
def test_a_wrong_token_is_not(made: dict[str, Any]) -> None:
    with pytest.raises(ClaimError):
        read(token(**made))


def test_a_shared_secret_signs_nothing() -> None:
    """The public key, taken for the secret of an HMAC: the oldest trick of all."""
    secret = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"k1"}').rstrip(b"=")
    signed = head + b"." + token().split(".")[1].encode()
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    made = signed + b"." + base64.urlsafe_b64encode(digest).rstrip(b"=")

    with pytest.raises(ClaimError, match="signed in a way"):
        read(made.decode())


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "e30.e30.", "é", token() + "x"])
def test_what_is_no_token_is_not(text: str) -> None:
    with pytest.raises(ClaimError):
        read(text)


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [public(OTHER)],
        [public(KEY, use="enc")],
        [public(KEY), public(OTHER)],
        [{"kid": "k1", "kty": "RSA"}],
        [{"kid": "k1"}],
    ],
)
def test_keys_that_do_not_fit(keys: list[dict[str, Any]]) -> None:
    with pytest.raises(ClaimError):
        read(token(), keys=keys)


def test_a_sign_in_without_a_nonce_believes_nothing() -> None:
    with pytest.raises(ClaimError, match="nonce"):
        read(token(nonce=""), nonce="")
