"""The table of stop reasons: what the services' labels mean."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import template_for
from transcripts.access import May, Reader
from transcripts.choices import StopReason
from transcripts.pages import project_page
from transcripts.stop_reasons import plain_label, stop_labels

# The notes are as in the reference table, written for programs.
NOTE_WORDS = {"->": "→", "wants_tool": "wants a tool", "cut_off": "cut off"}
TONES = {"finished": "good", "wants_tool": "quiet", "unknown": "warn"}


@require_safe
@project_page(May.SEE_RUNS)
def stop_reasons(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Raw labels with their plain meaning; narrowed by text, service and meaning."""
    text = request.GET.get("q", "").strip()[:100]
    provider, plain = request.GET.get("provider", ""), request.GET.get("plain", "")
    labels = stop_labels()
    shown = [
        row
        for row in labels
        if (not provider or row.provider == provider)
        and (not plain or row.plain.value == plain)
        and text.casefold() in f"{row.label} {row.note} {row.provider} {row.field}".casefold()
    ]
    read_as = plain_label(text, provider=provider) if text else None
    context = {
        "section": "detectors",
        "rows": [
            (
                row,
                StopReason(row.plain.value).label,
                TONES.get(row.plain.value, "bad"),
                _in_words(row.note),
            )
            for row in shown
        ],
        "total": len(labels),
        "providers": sorted({row.provider for row in labels}),
        "plains": StopReason.choices,
        "q": text,
        "provider": provider,
        "plain": plain,
        "read_as": StopReason(read_as.value).label if read_as else "",
    }
    return render(request, template_for(request, "analysis/stop_reasons.html", "labels"), context)


def _in_words(note: str) -> str:
    for code, words in NOTE_WORDS.items():
        note = note.replace(code, words)
    return note
