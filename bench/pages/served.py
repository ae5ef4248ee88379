"""A database and a server of the pages, for as long as they are measured or photographed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def database() -> Iterator[None]:
    """A database with Agentdesk's tables, on the Postgres of the tests; gone afterwards."""
    from tests import conftest

    child = conftest.OWN_POSTGRES.start() if conftest.OWN_POSTGRES else None
    from django.db import connection
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    made = setup_databases(verbosity=0, interactive=False, aliases=["default"])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            # A browser's last request may still hold a connection of its own.
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        connection.close()
        teardown_databases(made, verbosity=0)
        if child is not None:
            child.stop()
        shutil.rmtree(conftest.STATE, ignore_errors=True)


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server of the pages and their files, in a thread."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.test.testcases import LiveServerThread

    server = LiveServerThread("127.0.0.1", StaticFilesHandler, connections_override={})
    server.daemon = True
    server.start()
    server.is_ready.wait()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.terminate()
