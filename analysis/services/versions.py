"""Notes versions when they are first seen, so that it is known which of two is the later one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from django.db import connection, transaction

from analysis.models import SeenVersion, VersionKind
from transcripts.keys import content_digest
from transcripts.models import Run

# Versions that this process knows to be noted; a worker meets the same few again and again.
_known: set[bytes] = set()
MOST_KNOWN = 10_000

_NOTE = """
INSERT INTO analysis_seenversion (project_id, digest, kind, agent, version, first_seen_at)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (project_id, digest) DO UPDATE
SET first_seen_at = least(analysis_seenversion.first_seen_at, excluded.first_seen_at)
"""


def version_digest(*, project_id: int, kind: str, agent: str, version: str) -> bytes:
    """What finds a version, whatever its length."""
    return content_digest("\0".join((str(project_id), kind, agent, version)).encode())


def has_unseen(run: Run) -> bool:
    """Whether the run has a version that this process has not noted. No query."""
    return any(digest not in _known for _, _, digest in _of(run))


def versions_note(*, runs: Iterable[Run], anew: bool = False) -> None:
    """Note the versions of runs of one project. Needs the lock of its incidents. `anew`: also those
    that are known, which an older run may have had before.
    """
    noted: set[bytes] = set()
    with connection.cursor() as cursor:
        for run in runs:
            for kind, version, digest in _of(run):
                if anew or digest not in _known:
                    row = (run.project_id, digest, kind, str(run.agent), version, run.received_at)
                    cursor.execute(_NOTE, row)
                    noted.add(digest)
    # What is rolled back is not noted.
    transaction.on_commit(partial(_remember, noted))


def _remember(digests: set[bytes]) -> None:
    if len(_known) + len(digests) > MOST_KNOWN:
        _known.clear()
    _known.update(digests)


def _of(run: Run) -> Iterator[tuple[str, str, bytes]]:
    for kind, version in (
        (VersionKind.PROMPT, run.prompt_version),
        (VersionKind.CODE, run.code_version),
    ):
        if version:
            digest = version_digest(
                project_id=run.project_id, kind=kind, agent=str(run.agent), version=str(version)
            )
            yield kind.value, str(version), digest


def version_seen_at(*, project_id: int, kind: str, agent: str, version: str) -> datetime | None:
    """When the version was first seen; None: not yet."""
    digest = version_digest(project_id=project_id, kind=kind, agent=agent, version=version)
    found = SeenVersion.objects.filter(project_id=project_id, digest=digest)
    return found.values_list("first_seen_at", flat=True).first()
