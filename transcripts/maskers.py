"""The maskers of the server: the one place where a project's masking is put together.

Whatever is kept goes through one of these, so that a rule of the project holds on every way in.
"""

from __future__ import annotations

from transcripts.keys import masking_key
from transcripts.masking import Masker
from transcripts.models import Delivery, Project, Run


def run_masker(project: Project, run_id: str, run: Run) -> Masker:
    """The masker of a run; it knows the secrets that earlier deliveries brought."""
    return _masker(project, run_id, known=run.mask_known)


def delivery_masker(delivery: Delivery) -> Masker:
    """The masker of what is told about a delivery, apart from that of any run."""
    return _masker(delivery.project, f"delivery {delivery.pk}")


def typed_masker(project: Project) -> Masker:
    """The masker of what people type or send about runs: notes, names of views, case results.

    One secret is one placeholder in all that is typed in a project.
    """
    return _masker(project, "typed")


def _masker(project: Project, name: str, known: dict[str, str] | None = None) -> Masker:
    return Masker(key=masking_key(), project=str(project.pk), run=name, known=known or {})
