"""The detectors: what each looks for, when it stays silent, and the limits that it goes by here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analysis.detectors import all_detectors, detector_named
from analysis.detectors.base import PARTS, Detector
from analysis.limits.learning import baseline_for
from analysis.limits.pages import main_currency
from analysis.limits.sets import baseline_of, limit_book
from analysis.limits.words import limits_in_words
from analysis.models import Finding
from analysis.words import SEVERITIES
from transcripts.access import May, Reader
from transcripts.models import Run
from transcripts.pages import project_page

# Findings are counted over so many of the latest runs.
LATEST_RUNS = 1_000


@require_safe
@project_page(May.SEE_RUNS)
def detector_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """All detectors, in the order in which they speak."""
    counts, latest = _counts(reader)
    rows = [
        {"detector": each, "severity": SEVERITIES[each.severity], "runs": counts.get(each.name, 0)}
        for each in all_detectors()
    ]
    context = {"section": "detectors", "rows": rows, "latest": latest}
    return render(request, "analysis/detector_list.html", context)


@require_safe
@project_page(May.SEE_RUNS)
def detector_detail(request: HttpRequest, reader: Reader, name: str) -> HttpResponse:
    """One detector, from its own words. `?agent=` says whose limits are told."""
    detector = detector_named(name)
    if detector is None:
        raise Http404("There is no such detector.")
    agent = request.GET.get("agent", "").replace("\x00", "")
    learned = baseline_for(project_id=reader.project.pk, agent=agent)
    book = limit_book(project_id=reader.project.pk)
    applied = book.applied(agent, baseline_of(learned, currency=main_currency(learned)))
    counts, latest = _counts(reader, name)
    context: dict[str, Any] = {
        "section": "detectors",
        "detector": detector,
        "severity": SEVERITIES[detector.severity],
        "parts": list(_parts(detector)),
        "agent": agent,
        "limits": limits_in_words(applied.limits, name),
        "runs": counts.get(name, 0),
        "latest": latest,
    }
    return render(request, "analysis/detector_detail.html", context)


def _parts(detector: Detector) -> Iterator[tuple[str, str]]:
    for part, label in PARTS.items():
        yield label, getattr(detector, part)


def _counts(reader: Reader, name: str = "") -> tuple[dict[str, int], int]:
    """In how many of the latest runs each detector found something, and how many those are."""
    latest = Run.objects.filter(project=reader.project).order_by("-received_at", "-pk")
    pks = list(latest.values_list("pk", flat=True)[:LATEST_RUNS])
    found = Finding.objects.filter(run__in=pks)
    if name:
        found = found.filter(detector=name)
    counted = found.order_by().values("detector").annotate(runs=Count("run", distinct=True))
    return {each["detector"]: each["runs"] for each in counted}, len(pks)
