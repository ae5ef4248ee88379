"""The maskers of the server: the one place where a project's masking is put together.

Whatever is kept goes through one of these, so that a rule of the project holds on every way in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from transcripts.keys import masking_key
from transcripts.masking import Masker, OwnRule, RunKey
from transcripts.masking_choices import project_choices
from transcripts.models import Delivery, Project, Run

TYPED = "typed"


def run_masker(project: Project, run: Run) -> Masker:
    """The masker of a run; it knows the secrets that earlier deliveries brought."""
    return _masker(project, _run_name(run), known=run.mask_known)


def run_key(run: Run) -> RunKey:
    """The key that names a run's secrets."""
    return RunKey.derive(master=masking_key(), project=str(run.project_id), run=_run_name(run))


def delivery_masker(delivery: Delivery) -> Masker:
    """The masker of what is told about a delivery, apart from that of any run."""
    return _masker(delivery.project, f"delivery {delivery.pk}")


def typed_masker(project: Project, *, also: OwnRule | None = None) -> Masker:
    """The masker of what people type or send about runs: notes, names of views, case results.

    One secret is one placeholder in all that is typed in a project. `also`: a rule that is not
    saved yet.
    """
    return _masker(project, TYPED, also=also)


def project_key(project: Project) -> RunKey:
    """The key of the project's allow-list, which is the same in all of its runs."""
    return RunKey.derive(master=masking_key(), project=str(project.pk), run=TYPED)


def _run_name(run: Run) -> str:
    # Not the sender's id: once that is masked, a later masker could not be made with it.
    return f"run {bytes(run.digest).hex()}"


def _masker(
    project: Project,
    name: str,
    *,
    known: Mapping[str, str] | None = None,
    also: OwnRule | None = None,
) -> Masker:
    choices = project_choices(project)
    options = choices.options
    if also:
        options = replace(options, rules=(*options.rules, also))
    return Masker(
        key=masking_key(),
        project=str(project.pk),
        run=name,
        known=known,
        allowed=choices.allowed,
        options=options,
    )
