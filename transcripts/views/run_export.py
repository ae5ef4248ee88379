"""A run as a file."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.views.decorators.http import require_safe

from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction
from transcripts.export import all_exporters
from transcripts.pages import note_access, project_page
from transcripts.selectors.record import run_record


@require_safe
@project_page(May.ENGINEER)
def run_export(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """The masked run in a format that is known by name; `native` by default."""
    exporters = {exporter.name: exporter for exporter in all_exporters()}
    exporter = exporters.get(request.GET.get("as", "native"))
    if exporter is None:
        return HttpResponseBadRequest(f"as is one of {', '.join(exporters)}.")
    run = run_for(reader.project, pk)
    reader.require_read(run)
    masked = run_record(run=run)
    note_access(request, reader, AccessAction.EXPORT, run, {"as": exporter.name})
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", run.run_id).strip("-.")[:80] or f"run-{run.pk}"
    return HttpResponse(
        exporter.write(masked),
        content_type=exporter.media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}{exporter.suffix}"'},
    )
