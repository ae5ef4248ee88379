"""Settings stop start-up with the name of what is wrong, and never repeat a value."""

from __future__ import annotations

import ast
import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdesk.environment import Environment, MalformedSetting, MissingSetting, read_env_file
from agentdesk.local import ports

ROOT = Path(__file__).resolve().parent.parent.parent
RANDOM, OTHER = hashlib.sha256(b"k").digest(), hashlib.sha256(b"o").digest()
KEY = base64.urlsafe_b64encode(RANDOM).decode()


def env(**values: str) -> Environment:
    return Environment(values)


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda e: e.text("A"), id="text"),
        pytest.param(lambda e: e.secret("A", least=8), id="secret"),
        pytest.param(lambda e: e.keys("A"), id="keys"),
        pytest.param(lambda e: e.database("A", pool_size=0), id="database"),
        pytest.param(lambda e: e.redis("A"), id="redis"),
    ],
)
@pytest.mark.parametrize("values", [{}, {"A": ""}, {"A": "  "}], ids=["unset", "empty", "blank"])
def test_what_is_missing_is_named(
    read: Callable[[Environment], object], values: dict[str, str]
) -> None:
    with pytest.raises(MissingSetting, match=r"^A is not set"):
        read(Environment(values))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        pytest.param("12hidden", lambda e: e.number("A", 1), id="number"),
        pytest.param("hidden", lambda e: e.flag("A", False), id="flag"),
        pytest.param("10.1.2.3/16", lambda e: e.networks("A"), id="network with a host"),
        pytest.param("hidden", lambda e: e.networks("A"), id="network"),
        pytest.param("hidden", lambda e: e.choice("A", "x", among=("x", "y")), id="choice"),
        pytest.param("hidden", lambda e: e.secret("A", least=32), id="short secret"),
        pytest.param("hidden", lambda e: e.keys("A"), id="short key"),
        pytest.param("hidden" * 9 + "!", lambda e: e.keys("A"), id="no base64"),
        pytest.param("hidden" * 9, lambda e: e.secret("A", least=32), id="repeated secret"),
        pytest.param("mysql://hidden@h/n", lambda e: e.database("A", pool_size=0), id="mysql"),
        pytest.param("postgresql://hidden@h", lambda e: e.database("A", pool_size=0), id="no name"),
        pytest.param("postgresql://h:hidden/n", lambda e: e.database("A", pool_size=0), id="port"),
        pytest.param("amqp://hidden@h", lambda e: e.redis("A"), id="amqp"),
    ],
)
def test_what_is_malformed_is_named_and_not_repeated(
    value: str, read: Callable[[Environment], object]
) -> None:
    with pytest.raises(MalformedSetting, match=r"^A") as raised:
        read(env(A=value))

    assert "hidden" not in str(raised.value)


def test_a_number_below_the_least_is_refused() -> None:
    with pytest.raises(MalformedSetting, match="1 or more"):
        env(A="0").number("A", 5, least=1)


@pytest.mark.parametrize(("value", "flag"), [("yes", True), ("1", True), ("No", False), ("", True)])
def test_flags(value: str, flag: bool) -> None:
    assert env(A=value).flag("A", True) is flag


def test_keys_come_in_order_with_or_without_padding() -> None:
    other = base64.urlsafe_b64encode(OTHER).decode()

    assert env(A=f"{KEY}, {other.rstrip('=')}").keys("A") == (RANDOM, OTHER)


@pytest.mark.parametrize(
    "key",
    [bytes(32), b"k" * 32, bytes(range(8)) * 4, b"agentdesk-example-key-do-not-use"],
    ids=["zeros", "one letter", "few bytes", "words"],
)
def test_a_key_that_is_a_stand_in_is_refused(key: bytes) -> None:
    """Such as stand in examples, where everybody can read them."""
    text = base64.urlsafe_b64encode(key).decode()

    for given in (text, f"{KEY},{text}"):
        with pytest.raises(MalformedSetting, match="stand-in"):
            env(A=given).keys("A")


@pytest.mark.parametrize(
    "value",
    [
        "s" * 40,
        "tests-only-" * 5,
        "django-insecure-8s^k2m(x0q7w!h3t9z@v1b5n",
        "Change_me-to-a-long-and-random-value-please",
        "this-is-the-example-of-a-secret-key-1234",
    ],
)
def test_a_secret_that_is_a_stand_in_is_refused(value: str) -> None:
    with pytest.raises(MalformedSetting, match="stand-in") as raised:
        env(A=value).secret("A", least=32)

    assert value not in str(raised.value)


@pytest.mark.parametrize(("mode", "starts"), [(0o600, True), (0o400, True), (0o640, False)])
def test_keys_in_a_file_that_others_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, starts: bool
) -> None:
    monkeypatch.setenv("AGENTDESK_STATE", str(tmp_path))
    monkeypatch.delenv("SECRET_KEY")
    file = tmp_path / "secrets.env"
    file.write_text(f"SECRET_KEY={RANDOM.hex()}\n")
    file.chmod(mode)

    if starts:
        assert Environment().secret("SECRET_KEY", least=32) == RANDOM.hex()
    else:
        with pytest.raises(MalformedSetting, match="chmod 600"):
            Environment()


def test_a_random_secret_is_taken() -> None:
    for value in (RANDOM.hex(), KEY, f"{KEY}{KEY[:8]}"):
        assert env(A=value).secret("A", least=32) == value


def test_an_address_of_a_database() -> None:
    settings = env(A="postgres://an%40a:p%2Fw@db.example:5433/desk?sslmode=require").database(
        "A", pool_size=4
    )

    assert settings["USER"] == "an@a"
    assert settings["PASSWORD"] == "p/w"
    assert (settings["HOST"], settings["PORT"], settings["NAME"]) == ("db.example", "5433", "desk")
    assert settings["OPTIONS"]["sslmode"] == "require"
    assert settings["OPTIONS"]["pool"]["max_size"] == 4
    assert settings["CONN_MAX_AGE"] == 0


def test_an_address_of_a_socket() -> None:
    settings = env(A="postgresql:///desk?host=/run/postgresql").database("A", pool_size=0)

    assert settings["HOST"] == "/run/postgresql"
    assert "pool" not in settings["OPTIONS"]


def test_values_of_a_file_are_taken_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.env"
    path.write_text("# a note\n\nA=one=two\nB= $x \n")

    assert read_env_file(path) == {"A": "one=two", "B": " $x "}


def test_a_start_without_a_secret_key_is_refused(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "SECRET_KEY"}

    answer = subprocess.run(
        [sys.executable, "-c", "import agentdesk.settings"],
        cwd=ROOT,
        env={**environment, "AGENTDESK_STATE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode != 0
    assert "MissingSetting: SECRET_KEY is not set" in answer.stderr


def manage(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_database_that_is_away_gets_a_sentence() -> None:
    url = f"postgresql://a:hidden@127.0.0.1:{ports.any_free()}/a"

    answer = manage("key_create", "--help", DATABASE_URL=url)
    assert answer.returncode == 0, answer.stderr
    answer = manage("migrate", DATABASE_URL=url)

    assert answer.returncode == 1
    assert "The database does not answer" in answer.stderr
    assert "./desk up starts one" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "hidden" not in answer.stderr


def test_a_malformed_setting_gets_a_sentence() -> None:
    answer = manage("migrate", AGENTDESK_TASK_SECONDS="soon")

    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-1].startswith("MalformedSetting: AGENTDESK_TASK_SECONDS")


def variables_that_are_read() -> set[str]:
    """Names in `env.…("NAME"…)` of the settings, in `${NAME…}` of the compose file, and in
    `os.environ` of the project package."""
    found = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    tree = ast.parse((ROOT / "agentdesk/settings.py").read_text())
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "env"
            and isinstance(node.args[0], ast.Constant)
        ):
            found.add(str(node.args[0].value))
    for path in (ROOT / "agentdesk").rglob("*.py"):
        found |= set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', path.read_text()))
    return found


def test_the_example_names_every_variable() -> None:
    example = (ROOT / ".env.example").read_text()
    named = set(re.findall(r"^#?([A-Z][A-Z_]+)=", example, flags=re.M))

    found = variables_that_are_read()
    assert "SECRET_KEY" in found
    assert found - named == set()
    assert named - found - {"AGENTDESK_RULE_CACHE"} == set()
