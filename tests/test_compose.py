"""The compose file, as the real compose binary reads it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = {
    "SECRET_KEY": sha256(b"s").hexdigest(),
    "AGENTDESK_MASTER_KEYS": urlsafe_b64encode(sha256(b"k").digest()).decode(),
    "AGENTDESK_HOSTS": "agentdesk.example.org",
    "POSTGRES_PASSWORD": "p" * 24,
    "REDIS_PASSWORD": "r" * 24,
}
OURS = ("web", "worker", "beat", "migrate")


def compose(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the binary itself: the package's Python wrapper returns 0 on errors."""
    spec = importlib.util.find_spec("compose")
    assert spec
    assert spec.submodule_search_locations
    binary = Path(spec.submodule_search_locations[0]) / "docker-compose"
    return subprocess.run(
        [binary, "--env-file", os.devnull, *words],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    answer = compose("config", "--format", "json", **REQUIRED)
    assert answer.returncode == 0, answer.stderr
    return dict(json.loads(answer.stdout))


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_secret_stops_it_by_name(name: str) -> None:
    answer = compose("config", "-q", **{k: v for k, v in REQUIRED.items() if k != name})

    assert answer.returncode != 0
    assert f"set {name} in .env" in answer.stderr


@pytest.mark.parametrize("name", REQUIRED)
def test_an_empty_secret_stops_it_too(name: str) -> None:
    answer = compose("config", "-q", **{**REQUIRED, name: ""})

    assert answer.returncode != 0
    assert name in answer.stderr


def test_it_has_all_parts(model: dict[str, Any]) -> None:
    assert set(model["services"]) == {*OURS, "postgres", "redis"}


def test_everything_that_lasts_has_a_health_check(model: dict[str, Any]) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()

    for name, service in model["services"].items():
        if name == "migrate":
            assert service["healthcheck"]["disable"] is True
        elif name == "web":
            assert "HEALTHCHECK" in dockerfile
        else:
            assert service["healthcheck"]["test"]


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_ours_wait_for_migrations_and_servers(model: dict[str, Any], name: str) -> None:
    needs = {on: how["condition"] for on, how in model["services"][name]["depends_on"].items()}

    assert needs == {
        "migrate": "service_completed_successfully",
        "postgres": "service_healthy",
        "redis": "service_healthy",
    }


@pytest.mark.parametrize("name", [*OURS, "postgres", "redis"])
def test_containers_have_no_more_rights_than_they_need(model: dict[str, Any], name: str) -> None:
    service = model["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not service.get("privileged")


def test_only_the_pages_are_reached_from_outside(model: dict[str, Any]) -> None:
    published = {name for name, service in model["services"].items() if service.get("ports")}
    outside = {name for name, s in model["services"].items() if "outside" in s["networks"]}

    assert published == outside == {"web"}
    assert model["networks"]["inside"]["internal"] is True
    assert model["services"]["web"]["ports"][0]["host_ip"] == "127.0.0.1"


def test_data_are_in_a_named_volume(model: dict[str, Any]) -> None:
    mounted = model["services"]["postgres"]["volumes"]

    assert [(m["type"], m["source"]) for m in mounted] == [("volume", "postgres")]


def test_the_database_logs_no_content(model: dict[str, Any]) -> None:
    command = " ".join(model["services"]["postgres"]["command"])

    assert "log_min_error_statement=panic" in command
    assert "log_parameter_max_length_on_error=0" in command


def test_our_settings_accept_what_compose_gives(model: dict[str, Any]) -> None:
    from agentdesk.environment import Environment

    given = Environment(model["services"]["web"]["environment"])

    assert given.database("DATABASE_URL", pool_size=0)["PASSWORD"] == REQUIRED["POSTGRES_PASSWORD"]
    assert given.redis("REDIS_URL").startswith("redis://:r")
    assert given.names("AGENTDESK_HOSTS") == ["agentdesk.example.org", "localhost"]
    assert given.number("AGENTDESK_MAX_BODY_BYTES", 7) == 7
    assert given.flag("AGENTDESK_HTTPS", True) is False
    assert given.secret("SECRET_KEY", least=32) == REQUIRED["SECRET_KEY"]
    assert len(given.keys("AGENTDESK_MASTER_KEYS")) == 1


def dockerfile_steps() -> list[str]:
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text())
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_does_not_run_as_root_and_holds_no_secret() -> None:
    steps = dockerfile_steps()
    last = steps[max(i for i, step in enumerate(steps) if step.startswith("FROM")) :]

    assert any(step.startswith("USER 1") for step in last)
    for step in steps:
        if step.startswith(("ENV", "ARG")):
            assert not re.search(r"KEY|PASSWORD|SECRET|_URL", step)


def test_the_image_installs_by_hash_and_copies_what_is_there() -> None:
    steps = dockerfile_steps()
    ignored = (ROOT / ".dockerignore").read_text().splitlines()

    assert any("pip install" in step and "--require-hashes" in step for step in steps)
    for step in steps:
        if step.startswith("COPY") and "--from" not in step:
            source = step.split()[1]
            assert (ROOT / source).exists()
            assert f"!{source}" in ignored
