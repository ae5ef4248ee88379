"""Reads of a run together with what we think of it."""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.http import Http404

from analysis.models import Annotation
from transcripts.choices import Removal
from transcripts.models import Project, Run


def run_with_verdict(*, project: Project, pk: int) -> Run:
    """A run of the project with its verdict and triage, and `has_annotations`, in one query; 404
    for any other.
    """
    said = Annotation.objects.filter(run=OuterRef("pk"), removed_at=None)
    runs = Run.objects.exclude(removal=Removal.RUN).select_related("verdict", "triage__owner")
    try:
        return runs.annotate(has_annotations=Exists(said)).get(project=project, pk=pk)
    except Run.DoesNotExist:
        raise Http404("No such run in this project.") from None
