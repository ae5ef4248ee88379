"""What stands in a masked text instead of a secret: `[SECRET:family:8hex]`.

The id is made from the secret's value under a key of the run, so the same secret has the same
placeholder all over a run, and placeholders of two runs cannot be matched with each other.
"""

from __future__ import annotations

import base64
import hmac
import re
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PLACEHOLDER: Final = re.compile(r"\[SECRET:[a-z0-9-]{1,40}:[0-9a-f]{8}\]")
# Lowest length of a master key in bytes; less can be guessed.
KEY_BYTES: Final = 16
# Ids have 8 hex digits: with 4 a run of 300 secrets has two with one id half the time.
ID_DIGITS: Final = 8
# Digests of known values are longer, since a false match there would mask an innocent word.
DIGEST_DIGITS: Final = 32


@dataclass(frozen=True, slots=True, repr=False)
class RunKey:
    """The key that names the secrets of one run; never printed."""

    _naming: bytes
    _allowing: bytes
    _sealing: bytes

    @classmethod
    def derive(cls, *, master: bytes, project: str, run: str) -> RunKey:
        """The key of `run` in `project`. Raises `ValueError` for a master key under 16 bytes."""
        if len(master) < KEY_BYTES:
            raise ValueError(
                f"the masking key has {len(master)} bytes; it needs at least {KEY_BYTES}"
            )
        return cls(
            _hkdf(master, "run", project, run),
            _hkdf(master, "allowed", project),
            _hkdf(master, "ticket", project, run),
        )

    def placeholder(self, family: str, value: str) -> str:
        """The placeholder for `value`, whose id does not depend on the family."""
        return f"[SECRET:{family}:{self.digest(value)[:ID_DIGITS]}]"

    def digest(self, value: str) -> str:
        """What may be stored of a secret to know it again in this run: 32 hex digits, keyed."""
        return _hmac(self._naming, value)

    def allowed_digest(self, value: str) -> str:
        """What the allow-list stores of a value that is no secret: 32 hex digits, keyed."""
        return _hmac(self._allowing, value)

    def ticket(self, value: str) -> str:
        """The allow-list's digest of a secret, sealed for this run, as URL-safe base64.

        With it a placeholder can be put on the allow-list, although its secret is gone; without the
        master key it cannot be matched with the tickets of other runs.
        """
        sealed = AESSIV(self._sealing).encrypt(bytes.fromhex(self.allowed_digest(value)), None)
        return base64.urlsafe_b64encode(sealed).decode()

    def allowed_of(self, ticket: str) -> str | None:
        """The allow-list's digest that a ticket of this run holds; None if it is no such ticket."""
        try:
            return AESSIV(self._sealing).decrypt(base64.urlsafe_b64decode(ticket), None).hex()
        except (ValueError, InvalidTag):
            return None


def hidden(text: str) -> str:
    """`text` with each placeholder as a stand-in of its length, whose words tell no rule."""
    if "[SECRET:" not in text:
        return text
    return PLACEHOLDER.sub(lambda found: f"[{'X' * (len(found.group()) - 2)}]", text)


def covers_placeholder(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` touches a placeholder that is already there."""
    reach = 64
    for found in PLACEHOLDER.finditer(text, max(0, start - reach), min(len(text), end + reach)):
        if found.start() < end and found.end() > start:
            return True
    return False


def _hmac(key: bytes, value: str) -> str:
    message = value.encode("utf-8", "surrogatepass")
    return hmac.digest(key, message, "sha256").hex()[:DIGEST_DIGITS]


def _hkdf(master: bytes, *parts: str) -> bytes:
    # Lengths are part of the label, so that ("a", "bc") and ("ab", "c") give different keys.
    label = "agentdesk.masking/1" + "".join(f"|{len(part)}:{part}" for part in parts)
    info = label.encode("utf-8", "surrogatepass")
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(master)
