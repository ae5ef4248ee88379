"""Names of a run that a project keeps elsewhere, masked once they are known to hold a secret.

A project's own rows (limits of an agent, versions that were seen) have no run that they belong to,
and hold of runs what people filter by: agents, tools, versions, labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from django.apps import apps
from django.db import IntegrityError, models, transaction

from transcripts.fields import MaskedTextField
from transcripts.masking.types import MaskedText
from transcripts.models import Delivery, Project, Run

NAMES = ("agent", "prompt_version", "code_version")


def names_of(run: Run) -> list[MaskedText]:
    """The names in a run's header, in an order that masking does not change."""
    own = [getattr(run, name) for name in NAMES]
    labels = [part for label in run.labels for part in label]
    tools = [tool["name"] for tool in run.tools]
    return [*own, *labels, *tools]


def names_follow(*, project_id: int, renamed: Mapping[MaskedText, MaskedText]) -> int:
    """Put new names in the place of old ones in the project's own rows; returns how many changed.

    A row that would then be there twice is removed.
    """
    changed = 0
    for model, field in _columns() if renamed else ():
        rows = model._default_manager.filter(project=project_id, **{f"{field}__in": list(renamed)})
        for pk, told in list(rows.values_list("pk", field)):
            one = model._default_manager.filter(pk=pk)
            try:
                with transaction.atomic():
                    one.update(**{field: renamed[told]})
            except IntegrityError:
                one.delete()
            changed += 1
    return changed


@cache
def _columns() -> tuple[tuple[type[models.Model], str], ...]:
    return tuple(_found())


def _found() -> Iterator[tuple[type[models.Model], str]]:
    for model in apps.get_models():
        fields = {field.name: field for field in model._meta.concrete_fields}
        project = fields.get("project")
        # What is said of deliveries names runs, and those by themselves (`masked_rows`).
        if not isinstance(project, models.ForeignKey) or model in (Run, Delivery):
            continue
        if project.related_model is Project:
            yield from (
                (model, name)
                for name, field in fields.items()
                if isinstance(field, MaskedTextField)
            )
