"""Takes back the days that runs are kept, and legal holds. What was removed meanwhile is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transcripts.access import May, Reader
from transcripts.maskers import typed_masker
from transcripts.models import Project, Run, RunHold
from transcripts.selectors.retention import Rule, retention_rules
from transcripts.services.retention import rules_set
from transcripts.services.runs import run_locked
from transcripts.undo import UndoError, undoes

DAYS, HELD = "retention_days", "run_held"


def days_told(project: Project, rules: Sequence[Rule]) -> list[list[Any]]:
    """Rules as a change keeps them."""
    masked = typed_masker(project).text
    return [
        [masked(rule.name), masked(rule.value), rule.text_days, rule.metadata_days]
        for rule in rules
    ]


def hold_told(run: Run) -> dict[str, Any] | None:
    """A run's hold as a change keeps it; None where it has none."""
    hold = RunHold.objects.filter(run=run).first()
    return {"why": hold.why, "user": hold.user_id} if hold else None


@undoes(DAYS, may=May.ADMINISTER)
def days_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Keep runs for the days of before."""
    project = Project.objects.select_for_update(no_key=True).get(pk=reader.project.pk)
    if days_told(project, retention_rules(project=project)) != noted["after"]:
        raise UndoError("Somebody has changed the days again since.")
    rules_set(project=project, rules=[Rule(*values) for values in noted["before"]])
    return "The days are as before. What was removed in the meantime does not come back."


@undoes(HELD, may=May.ADMINISTER)
def hold_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Put a run on hold again, lift its hold, or say why as before."""
    run = run_locked(pk=noted["run"])
    if run is None or run.project_id != reader.project.pk:
        raise UndoError("The run is gone.")
    if hold_told(run) != noted["after"]:
        raise UndoError("Somebody has changed the hold again since.")
    before = noted["before"]
    if before is None:
        RunHold.objects.filter(run=run).delete()
        return "The run is not on hold any more."
    RunHold.objects.update_or_create(
        run=run, defaults={"why": before["why"], "user_id": before["user"]}
    )
    return "The run is on hold as before."
