"""Whether the database and the static files are as this code needs them, without asking Django.

Asking takes seconds of start-up. So a start that has prepared everything leaves a digest of what it
went by: migrations, static files, packages. Only our own database is taken on trust in this way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from agentdesk.environment import ROOT
from agentdesk.local.postgres import Postgres
from agentdesk.local.state import State

PATTERNS = (
    "requirements.lock",
    "agentdesk/management/commands/first_start.py",
    "transcripts/migrations/*.py",
    "analysis/migrations/*.py",
    "static/**/*",
)


def is_prepared(state: State, postgres: Postgres | None) -> bool:
    """Whether nothing has changed since `note_prepared`, and the same data are still there."""
    note = _note(state)
    if postgres is None or not note.exists():
        return False
    collected = Path(state.folder) / "static" / "staticfiles.json"
    made_at = (postgres.data / "PG_VERSION").stat().st_mtime
    return (
        collected.exists()
        and made_at < note.stat().st_mtime
        and note.read_text(encoding="ascii") == _digest()
    )


def note_prepared(state: State) -> None:
    _note(state).write_text(_digest(), encoding="ascii")


def forget_prepared(state: State) -> None:
    """Other data are in the database now: the next start has to look."""
    _note(state).unlink(missing_ok=True)


def _note(state: State) -> Path:
    return state.folder / "prepared"


def _digest() -> str:
    digest = hashlib.sha256()
    for path in _files():
        status = path.stat()
        name = path.relative_to(ROOT)
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    for pattern in PATTERNS:
        yield from sorted(path for path in ROOT.glob(pattern) if path.is_file())
