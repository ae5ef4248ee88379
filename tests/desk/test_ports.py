from __future__ import annotations

import os
import socket

import pytest

from agentdesk.local import ports
from agentdesk.local.process import LocalError
from agentdesk.local.supervisor import Bind, choose_bind


@pytest.fixture
def taken():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_taken_port_is_not_free(taken: int) -> None:
    assert not ports.is_free(taken)
    assert ports.is_free(ports.any_free())


def test_who_holds_a_port_is_named(taken: int) -> None:
    assert ports.holder(taken).endswith(f"(pid {os.getpid()})")


def test_nobody_holds_a_free_port() -> None:
    assert ports.holder(ports.any_free()) == ""


def test_a_wanted_port_is_kept_while_it_is_free(taken: int) -> None:
    free = ports.any_free()

    assert ports.free_near(free) == free
    assert ports.free_near(taken) != taken
    assert ports.free_near(None) > 0


def test_a_taken_port_is_refused_with_its_holder(taken: int) -> None:
    with pytest.raises(LocalError, match=rf"Port {taken} is taken by .*pid {os.getpid()}"):
        choose_bind("127.0.0.1", taken)


def test_pages_for_this_machine_alone_know_only_local_names() -> None:
    assert Bind("127.0.0.1", 8700).hosts() == ["localhost", "127.0.0.1", "[::1]"]
    assert Bind("127.0.0.1", 8700).address == "http://127.0.0.1:8700"


def test_pages_for_others_know_the_names_of_this_machine() -> None:
    bind = Bind("0.0.0.0", 8700)

    assert socket.gethostname() in bind.hosts()
    assert "0.0.0.0" not in bind.hosts()
    assert bind.address == "http://127.0.0.1:8700"


def test_an_address_of_version_6_has_brackets() -> None:
    assert Bind("::1", 8700).address == "http://[::1]:8700"
