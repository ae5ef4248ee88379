"""Rows with valid defaults. Give what the test is about; the rest is filled in."""

from __future__ import annotations

import itertools
import json
from typing import Any

from django.db import transaction

from transcripts.choices import KeyScope, Role
from transcripts.importers import read_runs
from transcripts.models import ApiKey, Membership, Project, Run, User
from transcripts.record import RunRecord
from transcripts.services import key_create, run_store

_numbers = itertools.count(1)


def a_project(slug: str = "", **fields: Any) -> Project:
    slug = slug or f"project-{next(_numbers)}"
    return Project.objects.create(**{"slug": slug, "name": slug.title(), **fields})


def a_user(email: str = "", password: str | None = None, **fields: Any) -> User:
    return User.objects.create_user(
        email or f"person-{next(_numbers)}@example.org", password, **fields
    )


def a_member(
    project: Project, role: Role = Role.LEAD, *, user: User | None = None, restricted: bool = False
) -> User:
    """A person with that role in the project."""
    user = user or a_user()
    Membership.objects.create(project=project, user=user, role=role, restricted=restricted)
    return user


def a_key(project: Project, *scopes: KeyScope) -> tuple[ApiKey, str]:
    """A key and its text; without scopes it may send and read."""
    return key_create(
        project=project, name="test", scopes=scopes or (KeyScope.INGEST, KeyScope.READ)
    )


def native_rounds(count: int = 3, *, tool: str = "get_employee") -> list[dict[str, Any]]:
    """Rounds of the native format: calls that are answered, then a reply that finishes."""
    calling = [
        {
            "round": number,
            "stop": "wants_tool",
            "calls": [
                {
                    "id": f"call_{number}",
                    "name": tool,
                    "args": {"id": number},
                    "result": f"employee {number}",
                    "is_error": False,
                }
            ],
        }
        for number in range(1, count)
    ]
    return [*calling, {"round": count, "stop": "finished", "reply": "Done."}]


def a_record(run_id: str = "", **fields: Any) -> RunRecord:
    """A record as the importer reads it from the native format."""
    body = {"run_id": run_id or f"run-{next(_numbers)}", "rounds": native_rounds(), **fields}
    (record,) = read_runs(json.dumps(body).encode())
    assert isinstance(record, RunRecord), record
    return record


def a_stored_run(project: Project | None = None, *, live: bool = False, **fields: Any) -> Run:
    """A run in the database, as `run_store` leaves it."""
    record = a_record(**fields)
    with transaction.atomic():
        return run_store(project=project or a_project(), fragment=record, live=live).run
