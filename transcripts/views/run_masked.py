"""What was masked of a run before it was stored: its receipt, and its placeholders."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction
from transcripts.masking_choices import project_rule_set
from transcripts.pages import note_access, project_page

SHOWN = 200


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def run_masked(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """The rule set, hits by rule, and the placeholders, by kind. No text of the transcript."""
    run = run_for(reader.project, pk)
    reader.require_read(run)
    note_access(request, reader, AccessAction.READ, run, {"part": "masked secrets"})
    known = sorted(
        (told.partition(":")[0], digest[:8], ":" in told) for digest, told in run.mask_known.items()
    )
    context = {
        "section": "runs",
        "run": run,
        "rules": sorted(run.mask_hits.items(), key=lambda hit: (-hit[1], hit[0])),
        "hits": sum(run.mask_hits.values()),
        "secrets": [
            {"text": f"[SECRET:{family}:{ident}]", "id": ident, "can_allow": can_allow}
            for family, ident, can_allow in known[:SHOWN]
        ],
        "count": len(known),
        "older": run.mask_rule_set != project_rule_set(reader.project),
    }
    return render(request, "transcripts/run_masked.html", context)
