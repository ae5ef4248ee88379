"""How long a worker waits for what another one holds, before it puts its work back and goes on.

Workers of one run, one trace or one project's files take turns by locks that last as long as a
transaction, which for a trace of 100,000 spans is a minute. A worker that waited for it would do
nothing for all other runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from psycopg.errors import LockNotAvailable

LOCK_WAIT_MS = 2000
# When what was put back is tried again.
AGAIN_SECONDS = 1.0


@contextmanager
def turn() -> Iterator[None]:
    """A transaction that waits no longer than `LOCK_WAIT_MS` for a lock; see `is_taken`."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", (str(LOCK_WAIT_MS),))
        yield


def is_taken(error: BaseException) -> bool:
    """Whether a transaction failed since another worker holds a lock that it needs."""
    return isinstance(error.__cause__, LockNotAvailable)
