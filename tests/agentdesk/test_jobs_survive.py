"""A job over past runs goes on after its worker was killed, and reads each run once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import psycopg
import pytest

from tests.agentdesk.rig import Rig, wait_until

pytestmark = pytest.mark.services

RUNS = 150
READ_AGAIN = """
INSERT INTO analysis_job
    (project_id, kind, state, wanted, result, total, read, changed, created_at, stepped_at)
SELECT id, 'read_again', 'waiting', jsonb_build_object('everything', true, 'last', 1000000000),
       '{}', %s, 0, 0, now(), now() - interval '1 minute'
FROM transcripts_project
"""
# As a worker that died a while ago would have left it; tests wait for nothing else.
LEFT = "UPDATE analysis_job SET stepped_at = now() - interval '1 minute'"


def execute(rig: Rig, sql: str, *values: object) -> None:
    with psycopg.connect(rig.postgres.url) as connection:
        connection.execute(sql, values)


def test_a_killed_worker_costs_a_job_no_run() -> None:
    # Not below pytest's own folder, which another account cannot reach: root's Postgres has one.
    with tempfile.TemporaryDirectory(prefix="agentdesk-rig-") as folder, Rig(Path(folder)) as rig:
        runs = [
            {"run_id": f"r{number}", "rounds": [{"round": 1, "stop": "finished", "reply": "Done."}]}
            for number in range(RUNS)
        ]
        status, body = rig.post("runs", runs)
        assert status == 202, body
        rig.start_worker()
        rig.wait_for_stored(rig.states())
        execute(rig, "UPDATE analysis_verdict SET suite = 'old'")
        execute(rig, READ_AGAIN, RUNS)
        wait_until(lambda: rig.rows("SELECT read FROM analysis_job")[0][0] > 0, seconds=30)

        rig.kill("worker")
        ((state, read, again),) = rig.rows(
            "SELECT state, read, (SELECT count(*) FROM analysis_verdict WHERE suite <> 'old') "
            "FROM analysis_job"
        )
        execute(rig, LEFT)
        rig.start_worker()
        wait_until(
            lambda: rig.rows("SELECT state FROM analysis_job") == [("done",)],
            seconds=60,
            why=lambda: str(rig.rows("SELECT state, read, total FROM analysis_job")),
        )

        assert (state, read) == ("waiting", again)
        assert 0 < read < RUNS
        assert rig.rows("SELECT read, total FROM analysis_job") == [(RUNS, RUNS)]
        assert rig.rows("SELECT count(*) FROM analysis_verdict WHERE suite = 'old'") == [(0,)]
