"""Sends a request to an address that a person typed in, and to nothing behind the firewall.

A webhook's address is chosen by people and its name is answered by strangers. So the name is
resolved once, every address of the answer must be a public one, and the connection goes to the
address that was looked at: a name that answers otherwise the second time (DNS rebinding) gets
nowhere. Redirects are not followed, no proxy of the environment is used, and an answer is read up
to a size and a time. Knows no Django.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], Sequence[str]]

TIMEOUT_SECONDS = 10.0
# More of an answer is not read: what is told of it is its number and its first words.
MAX_ANSWER_BYTES = 64 * 1024
PORTS = {"http": 80, "https": 443}
# Prefixes under which an IPv4 address is written as an IPv6 one: NAT64 (RFC 6052, RFC 8215).
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
# Public by the registry of Python 3.11's early versions, and no place for a webhook.
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "fec0::/10")
)
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class OutgoingRefusedError(ValueError):
    """An address may not be sent to; the message says why, for the person who typed it."""


class OutgoingFailedError(OSError):
    """A request got no answer; the message says at which step, and quotes nothing that came."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a request goes: `host` and `port` for the protocol, `addresses` to connect to, all of
    them looked at. `target` is path and query.
    """

    scheme: str
    host: str
    port: int
    target: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: `body` is its first MAX_ANSWER_BYTES. A redirect is an answer like others."""

    status: int
    body: bytes

    @property
    def accepted(self) -> bool:
        return 200 <= self.status < 300


def resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a name, as the machine's own resolver says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def destination(
    url: str, *, allowed: Sequence[Network] = (), resolving: Resolve = resolve
) -> Destination:
    """Where `url` leads; raises `OutgoingRefusedError` unless every address of its host is public
    or in one of the `allowed` networks.

    Nothing is sent. To be asked when an address is typed in, and again for each request.
    """
    scheme, host, port, target = _parts(url)
    try:
        found = resolving(host, port)
    except (OSError, UnicodeError):
        raise OutgoingRefusedError(f"The name {host} has no address.") from None
    if not found:
        raise OutgoingRefusedError(f"The name {host} has no address.")
    for address in found:
        if not is_public(address, allowed=allowed):
            raise OutgoingRefusedError(
                f"{host} leads to an address that is not public. An administrator of this server "
                "can allow its network with AGENTDESK_OUTGOING_NETWORKS."
            )
    return Destination(scheme, host, port, target, tuple(found))


def is_public(address: str, *, allowed: Sequence[Network] = ()) -> bool:
    """Whether an address is one of the open internet, or in one of the `allowed` networks.

    Not: this machine, private, link-local (cloud metadata), carrier, multicast and reserved ones,
    and IPv6 addresses with one of those inside.
    """
    try:
        ip: Address = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(
        _is_in(part, allowed)
        or (part.is_global and not part.is_multicast and not _is_in(part, _NEVER))
        for part in _with_inner(ip)
    )


def post(
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    allowed: Sequence[Network] = (),
    timeout: float = TIMEOUT_SECONDS,
    resolving: Resolve = resolve,
) -> Answer:
    """POST to a checked address; `timeout` in seconds holds for the whole of it but resolving.

    Raises `OutgoingRefusedError` before anything is sent, `OutgoingFailedError` where no answer
    comes.
    """
    where = destination(url, allowed=allowed, resolving=resolving)
    end = time.monotonic() + timeout
    for i, address in enumerate(where.addresses):
        connection = _connection(where, address, timeout=max(0.1, end - time.monotonic()))
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            if i + 1 < len(where.addresses) and time.monotonic() < end:
                continue
            raise OutgoingFailedError(f"{where.host}: no connection ({_named(error)})") from None
        try:
            return _ask(connection, where, body, headers, end)
        except (OSError, http.client.HTTPException) as error:
            raise OutgoingFailedError(f"{where.host}: no answer ({_named(error)})") from None
        finally:
            connection.close()
    raise OutgoingFailedError(f"{where.host}: no address")


def _parts(url: str) -> tuple[str, str, int, str]:
    if _CONTROL.search(url) or not _SCHEME.match(url):
        raise OutgoingRefusedError("This is no address of the form https://host/path.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OutgoingRefusedError("This is no address of the form https://host/path.") from None
    if parts.scheme not in PORTS:
        raise OutgoingRefusedError("The address must begin with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise OutgoingRefusedError("The address must not hold a name or a password.")
    host = (parts.hostname or "").rstrip(".")
    if not host or port == 0:
        raise OutgoingRefusedError("The address names no host.")
    try:
        host = host if ":" in host else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise OutgoingRefusedError("The address names a host that cannot be.") from None
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    if not target.isascii():
        raise OutgoingRefusedError("The path of the address must be written with %-codes.")
    return parts.scheme, host, port or PORTS[parts.scheme], target


def _with_inner(ip: Address) -> list[Address]:
    """The address, or those that an IPv6 one carries: mapped, 6to4, Teredo, NAT64."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped is not None:
        return [ip.ipv4_mapped]
    inner: list[Address] = [ip]
    if ip.sixtofour is not None:
        inner.append(ip.sixtofour)
    if ip.teredo is not None:
        inner.extend(ip.teredo)
    if _is_in(ip, _NAT64):
        return [ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)]
    return inner


def _is_in(ip: Address, among: Sequence[Network]) -> bool:
    return any(ip.version == network.version and ip in network for network in among)


def _connection(where: Destination, address: str, *, timeout: float) -> http.client.HTTPConnection:
    """A connection to `address` that speaks to `host`: the certificate must be the host's."""
    kind = _PinnedTLS if where.scheme == "https" else _Pinned
    return kind(where.host, where.port, address=address, timeout=timeout)


class _Pinned(http.client.HTTPConnection):
    def __init__(self, host: str, port: int, *, address: str, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self.address = address
        self.seconds = timeout

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.seconds)


class _PinnedTLS(_Pinned):
    def connect(self) -> None:
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)


def _ask(
    connection: http.client.HTTPConnection,
    where: Destination,
    body: bytes,
    headers: Mapping[str, str],
    end: float,
) -> Answer:
    try:
        connection.request("POST", where.target, body=body, headers=_headers(where, headers))
    except ValueError:
        # What http.client says of a header quotes it.
        raise OutgoingRefusedError("A header has a line break or another odd character.") from None
    answer = connection.getresponse()
    read = bytearray()
    while len(read) < MAX_ANSWER_BYTES:
        if time.monotonic() >= end:
            raise TimeoutError
        part = answer.read1(MAX_ANSWER_BYTES - len(read))
        if not part:
            break
        read += part
    return Answer(answer.status, bytes(read))


def _headers(where: Destination, headers: Mapping[str, str]) -> dict[str, str]:
    bare = f"[{where.host}]" if ":" in where.host else where.host
    usual = where.port == PORTS[where.scheme]
    return {
        "User-Agent": "Agentdesk",
        **headers,
        "Host": bare if usual else f"{bare}:{where.port}",
        "Connection": "close",
    }


def _named(error: Exception) -> str:
    return "it took too long" if isinstance(error, TimeoutError) else type(error).__name__
