"""Services and settings of the tests.

`./desk test` starts one Postgres and one Valkey and says where by AGENTDESK_TEST_DATABASE_URL and
AGENTDESK_TEST_REDIS_URL. Without it (`python -m pytest` by hand) the first test that needs a server
starts both, in a temporary folder, for this session.
"""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agentdesk.local import ports
from agentdesk.local.postgres import Postgres
from agentdesk.local.valkey import Valkey

ROOT = Path(__file__).resolve().parent.parent
STATE = Path(tempfile.mkdtemp(prefix="agentdesk-tests-"))
STATE.chmod(0o755)
# Where collected files would be; whitenoise warns of a folder that is not there.
(STATE / "static").mkdir()

KEPT = ("AGENTDESK_TEST_", "AGENTDESK_SHARED", "AGENTDESK_STRICT", "AGENTDESK_RULE_CACHE")

GIVEN_DATABASE = os.environ.get("AGENTDESK_TEST_DATABASE_URL", "")
GIVEN_REDIS = os.environ.get("AGENTDESK_TEST_REDIS_URL", "")
OWN_POSTGRES = None if GIVEN_DATABASE else Postgres(STATE, port=ports.any_free(), fast=True)
OWN_VALKEY = None if GIVEN_REDIS else Valkey(STATE, port=ports.any_free())

for name in [name for name in os.environ if name.startswith("AGENTDESK_")]:
    if not name.startswith(KEPT):
        del os.environ[name]
os.environ.update(
    {
        "AGENTDESK_RULE_CACHE": str(ROOT / ".agentdesk" / "rules"),
        "AGENTDESK_LOG_LEVEL": "WARNING",
        "AGENTDESK_MASTER_KEYS": base64.urlsafe_b64encode(sha256(b"tests").digest()).decode(),
        "AGENTDESK_STATE": str(STATE),
        "DATABASE_URL": OWN_POSTGRES.url if OWN_POSTGRES else GIVEN_DATABASE,
        "DJANGO_SETTINGS_MODULE": "agentdesk.settings",
        # Browser tests run Playwright's event loop in the thread that also queries the database.
        "DJANGO_ALLOW_ASYNC_UNSAFE": "1",
        "REDIS_URL": OWN_VALKEY.url if OWN_VALKEY else GIVEN_REDIS,
        "SECRET_KEY": sha256(b"tests too").hexdigest(),
    }
)

import django  # noqa: E402 - reads the settings, which read the environment

django.setup()

from django.conf import settings  # noqa: E402
from django.db.backends.postgresql.operations import DatabaseOperations  # noqa: E402

# The pages of tests are not collected, and their people need no slow hash.
settings.STORAGES["staticfiles"]["BACKEND"] = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
)
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def _flush_with_triggers_off(self: DatabaseOperations, statements: list[str]) -> None:
    """Empty the tables after a transactional test, also the audit log, which refuses that."""
    off, on = (f"SET session_replication_role = {role}" for role in ("replica", "origin"))
    _flush(self, [off, *statements, on] if statements else [])


_flush = DatabaseOperations.execute_sql_flush
DatabaseOperations.execute_sql_flush = _flush_with_triggers_off


def pytest_sessionfinish() -> None:
    shutil.rmtree(STATE, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first: modules whose tests share servers of their own."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """With AGENTDESK_STRICT a skip is a failure: where everything is there, nothing is skipped."""
    if hasattr(report, "wasxfail") or report.outcome != "skipped":
        return
    if os.environ.get("AGENTDESK_STRICT"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and AGENTDESK_STRICT is set: {report.longrepr}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a running Postgres of the tests."""
    if OWN_POSTGRES is None:
        yield GIVEN_DATABASE
    else:
        child = OWN_POSTGRES.start()
        yield OWN_POSTGRES.url
        child.stop()


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[str]:
    """The address of a running Valkey of the tests."""
    if OWN_VALKEY is None:
        yield GIVEN_REDIS
    else:
        child = OWN_VALKEY.start()
        yield OWN_VALKEY.url
        child.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    postgres_server: str, valkey_server: str, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """Whatever touches the database may also put something on the queue."""


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium; tests that need it are skipped without one."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium here; `./desk test` installs it or says how")


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, Any], chromium: str
) -> dict[str, Any]:
    quiet = ("background-networking", "component-update", "sync", "quic", "dev-shm-usage")
    flags = [f"--disable-{name}" for name in quiet]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": chromium, "args": flags}


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of cases and corpora. Tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("AGENTDESK_SHARED") or ROOT.parent / "shared")
    if folder.is_dir():
        return folder
    pytest.skip(f"no cases at {folder}: set AGENTDESK_SHARED")
