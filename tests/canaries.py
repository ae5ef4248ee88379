"""Made-up secrets that are looked for afterwards, in every form in which a store may hold them."""

from __future__ import annotations

import base64
import json
import os
import random
import string
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

ALPHANUMERIC = string.ascii_letters + string.digits
# Where a text stands in base64 depends on what is before it: of three shifts, the whole quartets.
SHIFTS = 3


@dataclass(frozen=True)
class Canary:
    """A secret as `text` says it, its rule family, and the way on which it was sent."""

    secret: str
    text: str
    family: str
    way: str

    @property
    def name(self) -> str:
        return f"{self.family} by {self.way}"


class Aviary:
    """Makes canaries and remembers them; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.made: list[Canary] = []

    def texts(self, way: str) -> dict[str, str]:
        """One new canary of each family, as a sentence or line that holds it, by family."""
        made = [self._canary(family, way) for family in FAMILIES]
        self.made += made
        return {canary.family: canary.text for canary in made}

    def told(self, way: str) -> str:
        """The same in one text."""
        return "\n".join(self.texts(way).values())

    def _canary(self, family: str, way: str) -> Canary:
        secret = self._secret(family)
        return Canary(secret, FAMILIES[family].replace("%", secret), family, way)

    def _secret(self, family: str) -> str:
        if family == "card":
            return self._card()
        if family == "iban":
            return self._iban()
        if family == "basic":
            return base64.b64encode(f"svc:{self._word(14)}7".encode()).decode()
        if family == "github":
            return "ghp_" + self._word(36)
        if family == "aws":
            return "AKIA" + "".join(self.chance.choices(string.ascii_uppercase + "234567", k=16))
        if family == "unicode":
            return f"Grün/Tor-{self._word(8)}-77"
        if family == "private-key":
            return self._word(40)
        return self._word(14) + "7-q"

    def _word(self, length: int) -> str:
        return "".join(self.chance.choices(ALPHANUMERIC, k=length))

    def _card(self) -> str:
        digits = [4, 5, 3, 9, *(self.chance.randrange(10) for _ in range(11))]
        doubled = [d * 2 - 9 * (d > 4) if i % 2 == 0 else d for i, d in enumerate(digits)]
        return "".join(map(str, [*digits, -sum(doubled) % 10]))

    def _iban(self) -> str:
        account = "".join(str(self.chance.randrange(10)) for _ in range(18))
        return f"DE{98 - int(account + '131400') % 97:02}{account}"


FAMILIES = {
    "password": "The password is %",
    "named": "db_password=%",
    "json": '{"api_key": "%"}',
    "url": "postgres://app:%@db.contoso.example/tickets",
    "bearer": "Authorization: Bearer %",
    "basic": "Authorization: Basic %",
    "cookie": "Cookie: sessionid=%",
    "github": "export GITHUB_TOKEN=%",
    "aws": "aws_access_key_id = %",
    "private-key": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA%\n-----END RSA PRIVATE KEY-----"
    ),
    "card": "card number %",
    "iban": "IBAN %",
    "unicode": '{"passwort": "%"}',
}


def forms(secret: str) -> dict[str, bytes]:
    """How a store may hold a text, by name of the form."""
    plain = secret.encode()
    found = {
        "plain": plain,
        "JSON": json.dumps(secret)[1:-1].encode(),
        "JSON in JSON": json.dumps(json.dumps(secret)[1:-1])[1:-1].encode(),
        "URL": quote(secret, safe="").encode(),
        "hex": plain.hex().encode(),
        "HEX": plain.hex().upper().encode(),
        "UTF-16 LE": secret.encode("utf-16-le"),
        "UTF-16 BE": secret.encode("utf-16-be"),
    }
    for shift in range(SHIFTS):
        # Whole groups of three bytes, from the first that no neighbour has a part in.
        inner = plain[-shift % 3 :]
        inner = inner[: len(inner) // 3 * 3]
        found[f"base64 {shift}"] = base64.b64encode(inner)
        found[f"URL base64 {shift}"] = base64.urlsafe_b64encode(inner)
    return found


def find(canaries: Iterable[Canary], places: Iterable[Path], work: Path) -> list[str]:
    """Where any canary stands in any form: `family by way as form in file`, each once."""
    names: dict[bytes, str] = {}
    for canary in canaries:
        for form, needle in forms(canary.secret).items():
            assert len(needle) >= 8
            assert b"\n" not in needle
            names.setdefault(needle, f"{canary.name} as {form}")
    needles = work / "needles"
    needles.write_bytes(b"\n".join(names) + b"\n")
    command = ["grep", "-r", "-a", "-o", "-F", "-H", "--null", "-f", str(needles)]
    answer = subprocess.run(
        [*command, *(str(place) for place in places)],
        capture_output=True,
        check=False,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
    )
    assert answer.returncode in (0, 1), answer.stderr.decode()
    found = set()
    for line in answer.stdout.splitlines():
        file, _, needle = line.partition(b"\0")
        found.add(f"{names[needle]} in {file.decode()}")
    return sorted(found)
