"""Reads an id token, and believes nothing that the issuer has not signed for this sign-in."""

from __future__ import annotations

import json
from typing import Any

from allauth.core.internal.deferred import jwt

# Signatures by public keys. Never `none`, and never a shared secret.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
# Clocks differ.
LEEWAY_SECONDS = 60


class ClaimError(ValueError):
    """What the provider said cannot be believed; the message is for a log, and holds no token."""


def claims_read(
    token: str, *, keys: dict[str, Any], issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """The claims of an id token (OpenID Connect Core 1.0, section 3.1.3.7); raises `ClaimError`.

    `keys` is the provider's key set (RFC 7517).
    """
    try:
        head = jwt.get_unverified_header(token)
        algorithm = head.get("alg")
        if algorithm not in ALGORITHMS:
            raise ClaimError("The id token is signed in a way that is not taken.")
        claims: dict[str, Any] = jwt.decode(
            token,
            key=_public_key(keys, head.get("kid"), algorithm),
            algorithms=[algorithm],
            issuer=issuer,
            audience=client_id,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except jwt.PyJWTError as error:
        raise ClaimError(f"The id token is not valid ({type(error).__name__}).") from None
    if not nonce or claims.get("nonce") != nonce:
        raise ClaimError("The id token was not made for this sign-in (nonce).")
    if claims.get("azp", client_id) != client_id:
        raise ClaimError("The id token was made for another client (azp).")
    return claims


def _public_key(keys: dict[str, Any], kid: str | None, algorithm: str) -> Any:
    known = [key for key in keys.get("keys", []) if key.get("use", "sig") == "sig"]
    named = [key for key in known if key.get("kid") == kid] if kid else known
    if len(named) != 1:
        raise ClaimError("The id token is signed with a key that the provider does not name.")
    maker = jwt.algorithms.get_default_algorithms()[algorithm]
    try:
        return maker.from_jwk(json.dumps(named[0]))
    except (ValueError, KeyError, TypeError):
        raise ClaimError("The provider's key cannot be read.") from None
