"""Delays after failed sign-ins, which grow with each.

They are counted in Postgres, so that all web processes see them, for the account and for the
address that asks. Whether the account exists makes no difference. Nobody is locked out for ever, or
by somebody else: a delay has a longest value, a try that comes too early is not counted, and a
browser in which the person has signed in before has a count of its own (`known_browsers`).
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from transcripts.keys import content_digest
from transcripts.models import SignInDelay

KEY_BYTES = 16
# Failures are forgotten after so long without another one.
FORGET = timedelta(hours=24)
# Many people can share an address.
TRIES_OF_AN_ADDRESS = 4
# One customer has at least so much of IPv6.
IPV6_PREFIX = 64


class TooSoonError(Exception):
    """A try that came before its delay was over."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many failed tries. Try again in {seconds} seconds.")
        self.seconds = seconds


@dataclass(frozen=True)
class Try:
    """A try that was let through, and counts as failed until `try_succeeded`."""

    own: bytes
    address: bytes | None


def key_of(kind: str, value: str) -> bytes:
    """The key of an account ("account", an e-mail address), a browser, a code or an address."""
    return content_digest(f"sign-in\0{kind}\0{value}".encode("utf-8", "replace"), size=KEY_BYTES)


def address_key(address: str | None) -> bytes | None:
    """The key of a client's address; of IPv6 the network that one customer has."""
    if not address:
        return None
    parsed = ipaddress.ip_address(address)
    if parsed.version == 6:
        parsed = ipaddress.ip_network(f"{parsed}/{IPV6_PREFIX}", strict=False).network_address
    return key_of("address", str(parsed))


@transaction.atomic
def try_begin(*, own: bytes, address: bytes | None) -> Try:
    """Count a try before its password is looked at, so that many at once do not slip through.

    Raises `TooSoonError` while a delay lasts, and counts nothing then.
    """
    now = timezone.now()
    rows = _locked([own] if address is None else [own, address], now)
    if (waits := max(row.until for row in rows.values())) > now:
        raise TooSoonError(math.ceil((waits - now).total_seconds()))
    for key, row in rows.items():
        if row.failed_at < now - FORGET:
            row.failures = 0
        row.failures += 1
        row.failed_at = now
        row.until = now + _delay(row.failures, TRIES_OF_AN_ADDRESS if key == address else 1)
        row.save(update_fields=["failures", "failed_at", "until"])
    return Try(own, address)


@transaction.atomic
def try_succeeded(taken: Try) -> None:
    """Forget the account's failures, and of the address's this one try: who knows one password must
    not be able to begin again with guessing others.
    """
    now = timezone.now()
    SignInDelay.objects.filter(key=taken.own).delete()
    if taken.address is not None:
        for row in _locked([taken.address], now).values():
            row.failures = max(0, row.failures - 1)
            row.until = now
            row.save(update_fields=["failures", "until"])


def forgotten_delete(*, now: datetime | None = None) -> int:
    """Delete what is forgotten; returns how many."""
    old = (now or timezone.now()) - FORGET
    return SignInDelay.objects.filter(failed_at__lt=old, until__lt=old).delete()[0]


def _delay(failures: int, times: int) -> timedelta:
    """Nothing for the first few failures, then doubling to the longest."""
    beyond = failures - settings.AGENTDESK_SIGN_IN_TRIES * times
    if beyond < 0:
        return timedelta(0)
    longest = settings.AGENTDESK_SIGN_IN_LONGEST_DELAY_SECONDS
    seconds = settings.AGENTDESK_SIGN_IN_FIRST_DELAY_SECONDS * 2 ** min(beyond, 20)
    return timedelta(seconds=min(seconds, longest))


def _locked(keys: Iterable[bytes], now: datetime) -> dict[bytes, SignInDelay]:
    """The rows, made where needed, locked in one order: two tries cannot block each other."""
    wanted = sorted(set(keys))
    rows = [SignInDelay(key=key, failed_at=now, until=now) for key in wanted]
    SignInDelay.objects.bulk_create(rows, ignore_conflicts=True)
    locked = SignInDelay.objects.select_for_update().filter(key__in=wanted).order_by("key")
    return {bytes(row.key): row for row in locked}
