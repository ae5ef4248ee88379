"""Files from a browser: shown before they are stored, and stored or given up by their sender."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.importers import all_importers
from transcripts.maskers import delivery_masker
from transcripts.models import Delivery
from transcripts.pages import note_access, project_page
from transcripts.previews import file_preview
from transcripts.selectors.deliveries import deliveries_held
from transcripts.services.deliveries import NotWaitingError, delivery_discard
from transcripts.services.held import delivery_hold, delivery_release, delivery_tell

# All files of one upload together are looked at for so long.
PREVIEW_SECONDS = 8.0


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ENGINEER)
def upload(request: HttpRequest, reader: Reader) -> HttpResponse:
    """A form for files, and what was recognised in those that wait to be confirmed."""
    error, status = "", 200
    if request.method == "POST":
        error, status = _take(request, reader)
        if not error:
            return redirect("transcripts:upload", reader.project.slug)
    held = deliveries_held(project=reader.project, user=reader.user)
    files = [_file(delivery) for delivery in held]
    known = [file for file in files if file["runs"]]
    context = {
        "section": "send",
        "error": error,
        "files": files,
        "storable": known,
        "runs": sum(file["runs"] for file in known),
        "whole": all(file["whole"] for file in known),
        "most": settings.AGENTDESK_MAX_BODY_BYTES,
    }
    return render(request, "transcripts/upload.html", context, status=status)


@require_POST
@project_page(May.ENGINEER)
def upload_store(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Hand the chosen files to a worker."""
    done = _each(request, reader, delivery_release, "confirmed")
    if not done:
        return redirect("transcripts:upload", reader.project.slug)
    query = urlencode([("r", str(pk)) for pk in done])
    address = reverse("transcripts:receipts", args=[reader.project.slug])
    return redirect(f"{address}?{query}")


@require_POST
@project_page(May.ENGINEER)
def upload_discard(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Give the chosen files up."""
    if done := _each(request, reader, delivery_discard, "discarded"):
        count = len(done)
        messages.success(request, f"{count} file{'' if count == 1 else 's'} discarded.")
    return redirect("transcripts:upload", reader.project.slug)


def _take(request: HttpRequest, reader: Reader) -> tuple[str, int]:
    """Seal the files and look at them. Returns what is wrong with the request, and its status."""
    most = settings.AGENTDESK_MAX_BODY_BYTES
    said = request.META.get("CONTENT_LENGTH") or "0"
    if said.isdecimal() and int(said) > most:
        size = filesizeformat(most)
        return f"These files are larger than {size} together. Nothing was kept of them.", 413
    files = [file for file in request.FILES.getlist("files") if file.size]
    if not files:
        return "No file was chosen, or all of them are empty.", 422
    until = time.monotonic() + PREVIEW_SECONDS
    for left, file in zip(range(len(files), 0, -1), files, strict=True):
        _hold(reader, file, seconds=max(0.5, (until - time.monotonic()) / left))
    return "", 200


def _hold(reader: Reader, file: UploadedFile[Any], *, seconds: float) -> None:
    content = file.read()
    name = file.name or "a file"
    delivery = delivery_hold(
        project=reader.project, user=reader.user, content=content, file_name=name
    )
    preview = file_preview(
        content=content, file_name=name, masker=delivery_masker(delivery), seconds=seconds
    )
    delivery_tell(delivery=delivery, preview=preview)


def _file(delivery: Delivery) -> dict[str, Any]:
    """A held file for the page: its preview, with its formats by their titles."""
    titles = {importer.name: importer.title for importer in all_importers()}
    empty = {"file": "a file", "formats": [], "runs": 0, "rounds": 0, "told": [], "whole": True}
    preview = {**empty, "problems": [], "problems_found": 0, **delivery.outcome.get("preview", {})}
    return {
        **preview,
        "pk": delivery.pk,
        "size": delivery.size,
        "format": ", ".join(titles.get(name, name) for name in preview["formats"]),
        "more": preview["runs"] - len(preview["told"]),
        "more_problems": preview["problems_found"] - len(preview["problems"]),
    }


def _each(
    request: HttpRequest, reader: Reader, decide: Callable[..., None], words: str
) -> list[UUID]:
    """Do what was decided with each of the person's own files that the form names."""
    chosen = set(request.POST.getlist("delivery"))
    done: list[UUID] = []
    for delivery in deliveries_held(project=reader.project, user=reader.user):
        if str(delivery.pk) not in chosen:
            continue
        try:
            decide(delivery=delivery)
        except NotWaitingError as error:
            messages.error(request, str(error))
        else:
            note_access(request, reader, AccessAction.QUARANTINE, None, {words: str(delivery.pk)})
            done.append(delivery.pk)
    if not done and not chosen:
        messages.error(request, "No file was chosen.")
    return done
