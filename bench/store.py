"""A store of 100,000 runs with 1 million rounds, and one run of 32,843, kept for later benches.

A few hundred runs are made by the real way in (masked, stored, indexed for search, read by the
detectors), different in length, words, tools, faults, agents, models and versions. The others are
copies of them that Postgres makes, table by table, each with a number of its own in its ids, texts
and search rows, so that every run holds words that no other one holds. So the tables, indexes and
rows are those of real runs, and making them takes minutes; what is not real is that 250 runs each
share the rest of their words. The data folder stays in `.agentdesk/bench`; it is made anew when a
migration or this file has changed.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from agentdesk.local.postgres import DATABASE, ROLE
from transcripts.text_index.sheets import STEPS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".agentdesk" / "bench"
RUNS, TEMPLATES, LONG = 100_000, 400, 32_843
# Stands for a copy's own number in all texts of a template.
OWN = "qz7q"
DAYS = 90
AGENTS = ("helpdesk", "billing", "onboarding", "network", "hr", "procurement", "security", "desk-2")
MODELS = ("large-2", "small-1", "medium-3", "large-1")
TOOLS = ("get_employee", "reset_vpn_profile", "list_invoices", "search_articles", "open_ticket")
SLUG = "bench"
PASSWORD = "bench"


def main(arguments: list[str]) -> int:
    """Make the store, or say that it is there."""
    with store():
        from transcripts.models import Round, Run

        print(f"{Run.objects.count():,} runs, {Round.objects.count():,} rounds in {FOLDER}")
    return 0


@contextmanager
def store() -> Iterator[None]:
    """The store on a Postgres of its own, with Django set up for it."""
    from agentdesk.local import ports
    from agentdesk.local.postgres import Postgres

    FOLDER.mkdir(parents=True, exist_ok=True)
    FOLDER.chmod(0o755)
    postgres = Postgres(FOLDER, port=ports.any_free(), password="bench", fast=True)
    child = postgres.start()
    # Django's settings are those of the tests, which take the server that they are told.
    os.environ.setdefault("AGENTDESK_TEST_DATABASE_URL", postgres.url)
    from django.db import connection

    from tests import conftest  # noqa: F401 - sets Django up

    settings = connection.settings_dict
    before = dict(settings)
    connection.close()
    settings.update(PORT=postgres.port, PASSWORD="bench", NAME=DATABASE, USER=ROLE)
    try:
        make()
        yield
    finally:
        connection.close()
        settings.update(before)
        child.stop()


def make(runs: int = RUNS, *, long: int = LONG) -> None:
    """Fill the database that Django is set up for, unless it holds the store as this file makes
    it.
    """
    from django.core.management import call_command
    from django.db import connection

    stamp = _stamp(runs, long)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS bench_stamp (stamp text)")
        cursor.execute("SELECT stamp FROM bench_stamp")
        if cursor.fetchone() == (stamp,):
            return
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
        cursor.execute("CREATE TABLE bench_stamp (stamp text)")
    call_command("migrate", verbosity=0)
    started = time.monotonic()
    project = _templates()
    _long_run(project, long)
    _copies(project.pk, runs)
    _people(project)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_stamp VALUES (%s)", (stamp,))
        cursor.execute("VACUUM ANALYZE")
    print(f"made the store in {time.monotonic() - started:.0f} s", flush=True)


def _stamp(runs: int, long: int) -> str:
    files = [Path(__file__), *sorted(ROOT.glob("*/migrations/*.py"))]
    told = b"".join(file.read_bytes() for file in files) + repr((runs, long)).encode()
    return hashlib.sha256(told).hexdigest()


def _templates() -> Any:
    from tests.factories import a_member, a_project, a_user
    from tests.page_runs import a_shown_run
    from transcripts.choices import Role

    project = a_project(SLUG)
    for role in Role:
        a_member(project, role, user=a_user(f"{role}@desk.example", PASSWORD))
    for number in range(TEMPLATES):
        a_shown_run(_template(number), project)
    return project


def _template(number: int) -> Any:
    """One run that others are copies of: of words that are common, rare, and its own."""
    from tests.builders import a_round, a_run, call
    from transcripts.record import InputChange, Message, Placed

    chance = random.Random(number)
    words = _Words(chance)
    agent = AGENTS[min(int(chance.expovariate(0.5)), len(AGENTS) - 1)]
    fault = chance.random()
    count = chance.randint(3, 17)
    rounds: list[Any] = []
    for at in range(count - 1):
        tool = TOOLS[min(int(chance.expovariate(0.7)), len(TOOLS) - 1)]
        args = {"id": f"{OWN}-{at}", "query": words.text(6)}
        result: str | None = f"record {OWN}{at}: {words.text(60)}"
        if fault < 0.12 and at == count // 2:
            result = ""
        elif fault < 0.2 and at >= count // 2:
            args, result = {"id": OWN}, "no change"
            tool = "reset_vpn_profile"
        elif fault < 0.3 and at == count // 3:
            result = f"Error: connection refused by {words.word()}.internal"
        rounds.append(
            a_round(
                call(tool, args, result, duration_ms=300),
                reply=f"I look at INV-{OWN}-{at} and {words.text(15)}.",
                tokens_in=800 + 90 * at,
                tokens_out=40,
                duration_ms=900,
                cost=Decimal(chance.randint(1, 500)) / 10_000,
                input=InputChange((Placed("ticket", 0),)) if at == 0 else None,
            )
        )
    if 0.3 <= fault < 0.36:
        rounds.append(a_round(call("open_ticket", {"id": OWN}, None)))
    else:
        rounds.append(f"Done: anna.{OWN}@contoso.example has /srv/files/{OWN}/report.txt again.")
    ticket = Message("ticket", "user", f"{words.text(9)}. See IT-{OWN}. {words.text(20)}")
    return a_run(
        *rounds,
        run_id=f"run-{OWN}-{number}",
        ticket_id=f"IT-{OWN}",
        messages=(ticket,),
        agent=agent,
        model=MODELS[number % len(MODELS)],
        prompt_version=f"v{number % 12}",
        code_version=f"1.{number % 30}",
        currency="EUR",
        labels={"team": f"team-{number % 9}"} | ({"restricted": "yes"} if number % 50 == 7 else {}),
        parent_run_id="run-parent" if number % 20 == 3 else "",
    )


class _Words:
    """Made-up words, few of them in every text and most of them in few."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def word(self) -> str:
        rank = int(30_000 ** self.chance.random())
        letters = random.Random(rank)
        return "".join(letters.choices("abcdefghijklmnoprstuvwxyz", k=letters.randint(3, 9)))

    def text(self, count: int) -> str:
        return " ".join(self.word() for _ in range(count))


def _long_run(project: Any, rounds: int) -> None:
    from bench.pages.runs import a_long_record
    from tests.page_runs import a_shown_run

    if rounds:
        a_shown_run(a_long_record(rounds), project)


# What of a table's rows is another one's in a copy.
CHANGES = {
    "id": "nextval(pg_get_serial_sequence('{table}', 'id'))",
    "run_id": "c.pk",
    "digest": "decode(md5(c.n::text), 'hex')",
    "received_at": "c.at",
    "updated_at": "c.at",
    "started_at": "c.at",
    "seen_at": "c.at",
}
TABLES = (
    "transcripts_round",
    "transcripts_toolcall",
    "transcripts_message",
    "transcripts_runtext",
    "analysis_verdict",
    "analysis_finding",
    "analysis_tooluse",
    "analysis_incidentrun",
)


def _copies(project_pk: int, runs: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """
            CREATE TEMPORARY TABLE copies AS
            SELECT n, %s AS project, templates[1 + n %% cardinality(templates)] AS template,
                   (SELECT max(id) FROM transcripts_run) + n AS pk,
                   now() - %s * (%s - n) / %s::float AS at
            FROM generate_series(1, %s) AS n, (
                SELECT array_agg(id ORDER BY id) AS templates FROM transcripts_run
                WHERE project_id = %s AND run_id LIKE %s
            ) AS t
            """,
            (project_pk, timedelta(days=DAYS), runs, runs, runs, project_pk, f"%{OWN}%"),
        )
        cursor.execute("CREATE INDEX ON copies (template)")
        cursor.execute("ANALYZE copies")
        cursor.execute("SET session_replication_role = replica")
        # An index of words is made much faster in one go.
        cursor.execute("SELECT pg_get_indexdef('run_text_words'::regclass)")
        (words_index,) = cursor.fetchone()
        cursor.execute("DROP INDEX run_text_words")
        _copy(cursor, "transcripts_run", key="id", changes={**CHANGES, "id": "c.pk"})
        for table in TABLES:
            _copy(cursor, table, key="run_id", changes=CHANGES)
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(words_index)
        cursor.execute("SET session_replication_role = origin")
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence('transcripts_run', 'id'), max(id))"
            " FROM transcripts_run"
        )


def _copy(cursor: Any, table: str, *, key: str, changes: dict[str, str]) -> None:
    """Copy a template's rows of a table for each of its copies."""
    cursor.execute(
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        (table,),
    )
    columns = cursor.fetchall()
    names = ", ".join(f'"{name}"' for name, _ in columns)
    values = ", ".join(_value(table, name, kind, key, changes) for name, kind in columns)
    cursor.execute(
        f"INSERT INTO {table} ({names}) SELECT {values} FROM copies c"
        f" JOIN {table} t ON t.{key} = c.template ORDER BY c.n"
    )


def _value(table: str, name: str, kind: str, key: str, changes: dict[str, str]) -> str:
    if name == "run_id" and key == "id":
        return f"replace(t.run_id, '{OWN}', c.n::text)"
    if name in changes and not (name == "digest" and table != "transcripts_run"):
        return changes[name].format(table=table)
    if kind == "tsvector":
        # The marks that say when a run came in are its own, too.
        own = f"replace(t.words::text, '{OWN}', c.n::text)"
        for step, bits in STEPS.items():
            mark = f"'#{step}' || c.project || '_' || (c.{{}} >> {bits}) || chr(39)"
            old, new = mark.format("template"), mark.format("pk")
            own = f"replace({own}, {old}, {new})"
        return f"({own})::tsvector"
    if kind in ("text", "jsonb"):
        return f"replace(t.\"{name}\"::text, '{OWN}', c.n::text)::{kind}"
    return f't."{name}"'


def _people(project: Any) -> None:
    """Every fiftieth run has an owner, every hundredth a label of ours."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO analysis_runtriage (run_id, owner_id, labels)
            SELECT r.id, m.user_id,
                   CASE WHEN r.id %% 100 = 0 THEN '[["seen", "yes"]]' ELSE '[]' END::jsonb
            FROM transcripts_run r, LATERAL (
                SELECT user_id FROM transcripts_membership WHERE project_id = r.project_id
                ORDER BY user_id OFFSET (r.id / 50) %% 4 LIMIT 1
            ) m WHERE r.project_id = %s AND r.id %% 50 = 0
            """,
            (project.pk,),
        )
