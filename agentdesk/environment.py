"""Typed reading of the environment; what is missing or malformed stops start-up with its name.

A value comes from the process environment, else from the two files that `./desk` keeps in the
state folder: `secrets.env` (made once) and `services.env` (addresses of the embedded servers,
rewritten at each start). In a container there are no such files: everything comes from the
environment.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import ipaddress
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
KEY_BYTES = 32
# What everybody can read in an example is no secret. Of 32 random bytes fewer than 16 differ, or
# all are ASCII, less than once in a billion.
LEAST_DIFFERENT = 16
STAND_IN = re.compile(
    r"change.?(me|this|it)|insecure|example|placeholder|only.for|secret.?key", re.IGNORECASE
)
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class MissingSetting(ImproperlyConfigured):
    """A required variable is not set."""


class MalformedSetting(ImproperlyConfigured):
    """A variable is set to something that cannot be used. The message never repeats the value."""


def state_folder() -> Path:
    """Where the embedded services keep all they have: AGENTDESK_STATE, else `.agentdesk` here."""
    return Path(os.environ.get("AGENTDESK_STATE") or ROOT / ".agentdesk").resolve()


def read_env_file(path: Path) -> dict[str, str]:
    """The NAME=VALUE lines of a file; empty when there is none. Values are taken as they stand."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in lines if line.strip() and not line.startswith("#"))
    return {name.strip(): value for name, _, value in pairs}


def _values() -> dict[str, str]:
    state = state_folder()
    return {
        **read_env_file(_private(state / "secrets.env")),
        **read_env_file(state / "services.env"),
        **os.environ,
    }


def _repeats(value: str) -> bool:
    """Whether it is one piece again and again."""
    return value in (value + value)[1:-1]


def _private(path: Path) -> Path:
    """The file, if nobody but its owner may read it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path
    if mode & 0o077:
        raise MalformedSetting(f"{path.name} holds keys and others may read it: chmod 600 {path}")
    return path


class Environment:
    """One look at the environment and the state files."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self.values = _values() if values is None else values

    def text(self, name: str, default: str | None = None) -> str:
        """The value of `name`; a `default` of None makes it required."""
        value = self.values.get(name, "").strip()
        if value:
            return value
        if default is None:
            raise MissingSetting(
                f"{name} is not set. `./desk up` sets it here; for other machines see .env.example."
            )
        return default

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        """A whole number, `least` or more."""
        value = self.text(name, str(default))
        try:
            number = int(value)
        except ValueError:
            raise MalformedSetting(f"{name} must be a whole number.") from None
        if number < least:
            raise MalformedSetting(f"{name} must be {least} or more, and is {number}.")
        return number

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name, "yes" if default else "no").lower()
        if value in {"1", "yes", "true", "on"}:
            return True
        if value in {"0", "no", "false", "off"}:
            return False
        raise MalformedSetting(f"{name} must be yes or no.")

    def names(self, name: str, default: str = "") -> list[str]:
        """A list, separated by commas."""
        return [part.strip() for part in self.text(name, default).split(",") if part.strip()]

    def networks(self, name: str) -> tuple[Network, ...]:
        """Networks of addresses, separated by commas, such as `10.1.0.0/16`."""
        try:
            return tuple(ipaddress.ip_network(part) for part in self.names(name))
        except ValueError:
            raise MalformedSetting(f"{name} must list networks such as 10.1.0.0/16.") from None

    def choice(self, name: str, default: str, among: tuple[str, ...]) -> str:
        value = self.text(name, default)
        if value not in among:
            raise MalformedSetting(f"{name} must be one of: {', '.join(among)}.")
        return value

    def secret(self, name: str, *, least: int) -> str:
        """A required secret of at least `least` characters."""
        value = self.text(name)
        if len(value) < least:
            raise MalformedSetting(f"{name} is too short: it needs {least} characters or more.")
        if _repeats(value) or STAND_IN.search(value):
            raise MalformedSetting(
                f"{name} is a stand-in, and not random: `openssl rand -hex 32` prints a new one."
            )
        return value

    def keys(self, name: str) -> tuple[bytes, ...]:
        """Keys of 32 bytes in URL-safe base64, separated by commas.

        The first is in use; the others still open what was sealed with them.
        """
        keys = []
        for number, part in enumerate(self.text(name).split(","), 1):
            try:
                text = part.strip().rstrip("=")
                padded = text + "=" * (-len(text) % 4)
                key = base64.b64decode(padded, altchars=b"-_", validate=True)
            except (binascii.Error, ValueError):
                key = b""
            if len(key) != KEY_BYTES:
                raise MalformedSetting(
                    f"{name}: key {number} is not {KEY_BYTES} bytes in URL-safe base64. "
                    "`./desk key` prints a new one."
                )
            if len(set(key)) < LEAST_DIFFERENT or key.isascii():
                raise MalformedSetting(
                    f"{name}: key {number} is a stand-in, and not random. "
                    "`./desk key` prints a new one."
                )
            keys.append(key)
        return tuple(keys)

    def database(self, name: str, *, pool_size: int) -> dict[str, Any]:
        """Django's settings of a `postgresql://user:password@host:port/name?option=value` address.

        `pool_size` 0: one connection per thread, kept for a minute; else a pool of that many.
        """
        try:
            parts = urlsplit(self.text(name))
            port = parts.port or ""
        except ValueError:
            raise MalformedSetting(f"{name} cannot be read as an address.") from None
        database = unquote(parts.path.lstrip("/"))
        if parts.scheme not in {"postgresql", "postgres"} or not database:
            raise MalformedSetting(
                f"{name} must look like postgresql://user:password@host:5432/name."
            )
        options: dict[str, Any] = {"connect_timeout": 5, **dict(parse_qsl(parts.query))}
        host = options.pop("host", "") or unquote(parts.hostname or "")
        if pool_size:
            options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": database,
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": host,
            "PORT": str(port),
            "CONN_MAX_AGE": 0 if pool_size else 60,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": options,
        }

    def redis(self, name: str) -> str:
        value = self.text(name)
        if urlsplit(value).scheme not in {"redis", "rediss", "redis+socket"}:
            raise MalformedSetting(f"{name} must look like redis://:password@host:6379/0.")
        return value

    def file(self, name: str) -> str:
        """The path of a file that can be read; empty when it is not set."""
        value = self.text(name, "")
        if value and not os.access(value, os.R_OK):
            raise MalformedSetting(f"{name} names a file that cannot be read.")
        return value

    def mail_server(self, name: str) -> dict[str, Any]:
        """Host, port, user, password, and how it is encrypted; empty when it is not set.

        `smtp://user:password@host:587` speaks STARTTLS, `smtps://` TLS from the start, and
        `smtp://host:25?tls=no` neither, for a relay on the same machine.
        """
        value = self.text(name, "")
        if not value:
            return {}
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError:
            raise MalformedSetting(f"{name} cannot be read as an address.") from None
        if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
            raise MalformedSetting(f"{name} must look like smtp://user:password@host:587.")
        tls = parts.scheme == "smtps"
        plain = dict(parse_qsl(parts.query)).get("tls") == "no"
        return {
            "host": parts.hostname,
            "port": port or (465 if tls else 587),
            "user": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
            "tls": tls,
            "starttls": not tls and not plain,
        }

    def single_sign_on(self, name: str) -> list[dict[str, Any]]:
        """django-allauth's settings of one OpenID Connect provider; none when no issuer is named.

        `name` ends with `_ISSUER`; beside it are `_CLIENT_ID`, `_CLIENT_SECRET`, `_NAME` and
        `_TRUST_EMAIL`.
        """
        issuer = self.text(name, "")
        if not issuer:
            return []
        parts = urlsplit(issuer)
        here = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        schemes = {"https", "http"} if here else {"https"}
        if not parts.hostname or parts.scheme not in schemes:
            raise MalformedSetting(f"{name} must be an https address.")
        head = name.removesuffix("_ISSUER")
        return [
            {
                # The same number at another issuer is another person.
                "provider_id": f"sso-{hashlib.sha256(issuer.encode()).hexdigest()[:16]}",
                "name": self.text(f"{head}_NAME", "single sign-on"),
                "client_id": self.text(f"{head}_CLIENT_ID"),
                "secret": self.text(f"{head}_CLIENT_SECRET"),
                "settings": {
                    "issuer": issuer,
                    "verified_email": self.flag(f"{head}_TRUST_EMAIL", False),
                },
            }
        ]
