"""How a webhook says that it is from here: HMAC-SHA256 over time and body. Knows no Django."""

from __future__ import annotations

import hashlib
import hmac

TIMESTAMP = "X-Agentdesk-Timestamp"
SIGNATURE = "X-Agentdesk-Signature"
DELIVERY = "X-Agentdesk-Delivery"


def signature(*, secret: bytes, timestamp: str, body: bytes) -> str:
    """`v1=` and the hex digest of `<timestamp>.<body>`; the time is in seconds since 1970."""
    said = timestamp.encode() + b"." + body
    return "v1=" + hmac.new(secret, said, hashlib.sha256).hexdigest()
