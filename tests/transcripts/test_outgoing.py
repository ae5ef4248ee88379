"""Webhooks reach the open internet and nothing else, whatever a name answers."""

from __future__ import annotations

import http.server
import ipaddress
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from transcripts.outgoing import (
    MAX_ANSWER_BYTES,
    OutgoingFailedError,
    OutgoingRefusedError,
    destination,
    is_public,
    post,
    resolve,
)

LOCAL = [ipaddress.ip_network("127.0.0.0/8")]


def answering(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda host, port: list(addresses)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1", id="this machine"),
        pytest.param("127.255.255.254", id="this machine, the other end"),
        pytest.param("0.0.0.0", id="any"),
        pytest.param("10.1.2.3", id="private, 10"),
        pytest.param("172.16.0.1", id="private, 172"),
        pytest.param("192.168.1.1", id="private, 192"),
        pytest.param("169.254.169.254", id="metadata"),
        pytest.param("100.100.100.200", id="metadata of a carrier range"),
        pytest.param("192.0.0.192", id="metadata of a protocol range"),
        pytest.param("198.18.0.1", id="benchmarks"),
        pytest.param("224.0.0.1", id="multicast"),
        pytest.param("240.0.0.1", id="reserved"),
        pytest.param("255.255.255.255", id="broadcast"),
        pytest.param("::1", id="this machine, v6"),
        pytest.param("::", id="any, v6"),
        pytest.param("fe80::1", id="link-local, v6"),
        pytest.param("fe80::1%eth0", id="link-local with a scope"),
        pytest.param("fd00:ec2::254", id="metadata, v6"),
        pytest.param("fec0::1", id="site-local, v6"),
        pytest.param("ff02::1", id="multicast, v6"),
        pytest.param("::ffff:127.0.0.1", id="mapped"),
        pytest.param("::ffff:169.254.169.254", id="mapped metadata"),
        pytest.param("2002:7f00:1::", id="6to4"),
        pytest.param("64:ff9b::7f00:1", id="NAT64"),
        pytest.param("64:ff9b:1::a00:1", id="local NAT64"),
        pytest.param("2001:0:7f00:1::", id="Teredo"),
        pytest.param("not an address", id="nonsense"),
    ],
)
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1"]
)
def test_an_address_of_the_open_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_an_allowed_network_opens_that_network_alone() -> None:
    allowed = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd12::/16")]

    assert is_public("10.1.2.3", allowed=allowed)
    assert is_public("fd12::5", allowed=allowed)
    assert not is_public("10.2.0.1", allowed=allowed)
    assert not is_public("169.254.169.254", allowed=allowed)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/hook",
        "//example.org/hook",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://name:password@example.org/",
        "https://example.org@10.0.0.1/",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://example.org:port/",
        "https://exam ple.org/",
        "https://example.org/\r\nHost: inside",
        "https://example.org/\x00",
        "https://example.org\\@inside/",
        "https://[::1/",
        f"https://{'a' * 300}.org/",
        "https://example.org/ä",
    ],
)
def test_what_is_no_address_of_the_web_is_refused_before_it_is_looked_up(url: str) -> None:
    asked = []

    with pytest.raises(OutgoingRefusedError):
        destination(url, resolving=lambda host, port: asked.append(host) or ["1.1.1.1"])

    assert asked == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "localhost"]
)
def test_every_way_to_write_this_machine_is_refused(host: str) -> None:
    with pytest.raises(OutgoingRefusedError):
        destination(f"http://{host}/hook")


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(OutgoingRefusedError, match="not public"):
        destination("https://example.org/", resolving=answering("1.1.1.1", "10.0.0.1"))


def test_a_name_without_an_address_is_refused() -> None:
    def nowhere(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    for resolving in (nowhere, answering()):
        with pytest.raises(OutgoingRefusedError, match="no address"):
            destination("https://example.org/", resolving=resolving)


def test_a_destination_keeps_the_addresses_that_were_looked_at() -> None:
    found = destination("https://ex\u00e4mple.org./a?b=c#d", resolving=answering("1.1.1.1"))

    assert (found.scheme, found.host, found.port) == ("https", "xn--exmple-cua.org", 443)
    assert (found.target, found.addresses) == ("/a?b=c", ("1.1.1.1",))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    status = 204
    extra: dict[str, str] = {}
    content = b""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, dict[str, str], bytes]] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        for name, value in self.server.extra.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)

    do_GET = do_POST

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_post_arrives_at_the_address_that_was_looked_at(server: Server) -> None:
    answer = post(
        f"http://hooks.example.org:{server.server_port}/in?a=1",
        body=b"{}",
        headers={"Content-Type": "application/json"},
        allowed=LOCAL,
        resolving=answering("127.0.0.1"),
    )

    path, headers, body = server.seen[0]
    assert answer.accepted
    assert (path, body) == ("/in?a=1", b"{}")
    assert headers["Host"] == f"hooks.example.org:{server.server_port}"
    assert headers["Content-Type"] == "application/json"


def test_a_name_that_answers_otherwise_the_second_time_gets_nowhere(server: Server) -> None:
    answers = [["1.1.1.1"], ["127.0.0.1"]]

    def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    with pytest.raises(OutgoingFailedError):
        post(
            f"http://rebind.example.org:{server.server_port}/",
            body=b"",
            headers={},
            timeout=0.3,
            resolving=rebinding,
        )

    assert server.seen == []
    assert len(answers) == 1


def test_a_redirect_is_not_followed(server: Server) -> None:
    server.status = 307
    server.extra = {"Location": f"http://127.0.0.1:{server.server_port}/inside"}

    answer = post(f"http://127.0.0.1:{server.server_port}/", body=b"", headers={}, allowed=LOCAL)

    assert (answer.status, answer.accepted) == (307, False)
    assert len(server.seen) == 1


def test_a_large_answer_is_cut(server: Server) -> None:
    server.status, server.content = 200, b"x" * (MAX_ANSWER_BYTES + 5000)

    answer = post(f"http://127.0.0.1:{server.server_port}/", body=b"", headers={}, allowed=LOCAL)

    assert len(answer.body) == MAX_ANSWER_BYTES


def test_a_header_with_a_line_break_is_refused_and_not_repeated(server: Server) -> None:
    with pytest.raises(OutgoingRefusedError) as refused:
        post(
            f"http://127.0.0.1:{server.server_port}/",
            body=b"",
            headers={"X-Key": "secret\r\nX-Other: 1"},
            allowed=LOCAL,
        )

    assert "secret" not in str(refused.value)
    assert server.seen == []


def test_a_proxy_of_the_environment_is_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")

    answer = post(f"http://127.0.0.1:{server.server_port}/", body=b"", headers={}, allowed=LOCAL)

    assert answer.accepted


def test_https_asks_for_the_certificate_of_the_name(server: Server) -> None:
    with pytest.raises(OutgoingFailedError, match="no connection"):
        post(f"https://127.0.0.1:{server.server_port}/", body=b"", headers={}, allowed=LOCAL)

    assert server.seen == []


def test_the_machines_own_resolver_is_asked() -> None:
    assert "127.0.0.1" in resolve("127.0.0.1", 80)
