"""Rows that all tests of a module read, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.core.management import call_command
from django.db import connection, transaction

T = TypeVar("T")


def made_once(blocker: Any, make: Callable[[], T]) -> Iterator[T]:
    """For a fixture of a module's scope: what `make` returns, committed, so that what a test
    changes is rolled back with the test alone. The tables are emptied after the last one.
    """
    with blocker.unblock(), transaction.atomic():
        made = make()
        # What would be put on the queue is for nobody.
        connection.run_on_commit = []
    yield made
    with blocker.unblock():
        call_command("flush", interactive=False, verbosity=0)
