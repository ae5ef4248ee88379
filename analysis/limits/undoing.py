"""Takes back limits that people set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.limits.sets import LIMIT_SETS
from transcripts.access import May, Reader
from transcripts.models import Project
from transcripts.undo import undoes
from transcripts.undo_rows import pairs_of

LIMITS = "limits_changed"


@undoes(LIMITS, may=May.ENGINEER)
def limits_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let sets of limits be what they were, all or none."""
    Project.objects.select_for_update().get(pk=reader.project.pk)
    pairs = pairs_of(noted)
    LIMIT_SETS.put_back(reader.project, pairs)
    sets = "The limits are" if len(pairs) == 1 else f"{len(pairs)} sets of limits are"
    return f"{sets} as before, for runs that come from now on."
