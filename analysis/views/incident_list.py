"""The list of incidents, and changes of several at once."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.incident_words import PRIORITIES, STATES
from analysis.models import Incident
from analysis.pages import incident_lists
from analysis.pages.incident_changes import ChangeError, IncidentChangeForm, decide
from analysis.pages.incident_lists import IncidentFilter
from analysis.pages.trend_drawing import spark_of
from analysis.selectors.incidents import agents_of_incidents, daily_runs, owners_possible
from analysis.words import detector_title
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page
from transcripts.undo import change_note, change_tell

SPARK_DAYS = 14


@require_safe
@project_page(May.SEE_RUNS)
def incident_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Incidents, those seen last first, with the filters in the address."""
    wanted = IncidentFilter.of(request.GET)
    context = _context(
        request,
        reader,
        wanted,
        before=request.GET.get("before", ""),
        after=request.GET.get("after", ""),
    )
    template = template_for(request, "analysis/incident_list.html", "incident-list")
    return render(request, template, context)


@require_POST
@project_page(May.TRIAGE)
def incidents_change(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Change the incidents that were chosen in the list (`number`), and show the list again."""
    numbers = [int(n) for n in request.POST.getlist("number") if n.isascii() and n.isdecimal()]
    found = Incident.objects.filter(
        project=reader.project, number__in=numbers[:500], merged_into=None
    )
    incidents = list(found.order_by("number"))
    if incidents:
        incidents_decide(request, reader, incidents)
    else:
        messages.info(request, "No incident was chosen.")
    wanted = IncidentFilter.of_text(request.POST.get("list", ""))
    if not is_swap(request):
        address = reverse("analysis:incident_list", args=[reader.project.slug])
        return redirect(f"{address}?{wanted.text}" if wanted.text else address)
    context = _context(request, reader, wanted) | {"told": True}
    return render(request, "analysis/incident_list.html#incident-list", context)


def incidents_decide(request: HttpRequest, reader: Reader, incidents: list[Incident]) -> None:
    """Do what the form asks for, say so with a button that takes it back, and note it."""
    action = request.POST.get("action", "")
    try:
        decided = decide(reader, incidents, action, IncidentChangeForm(request.POST))
    except ChangeError as error:
        messages.error(request, str(error))
        return
    if decided is None:
        messages.info(request, "Nothing has changed.")
        return
    on_hold = action in ("hold", "release")
    note_access(
        request,
        reader,
        AccessAction.HOLD if on_hold else AccessAction.INCIDENT,
        None,
        {"change": action, "incidents": [incident.number for incident in incidents]},
    )
    change = change_note(reader=reader, kind=decided.kind, before=decided.before)
    change_tell(request, decided.words, change)


def _context(
    request: HttpRequest,
    reader: Reader,
    wanted: IncidentFilter,
    *,
    before: str = "",
    after: str = "",
) -> dict[str, Any]:
    cites = reader.may(May.READ_TRANSCRIPTS)
    page = incident_lists.incident_page(
        project=reader.project,
        wanted=wanted,
        user=reader.user,
        cites=cites,
        before=before,
        after=after,
    )
    counts = incident_lists.incident_counts(
        project=reader.project, wanted=wanted, user=reader.user, cites=cites
    )
    options = _options(reader, wanted)
    return {
        "section": "incidents",
        "swap": is_swap(request),
        "wanted": wanted,
        "page": page,
        "rows": _rows(page.incidents, cites),
        "tabs": [
            (tab, title, counts[tab], wanted.on(tab).text)
            for tab, title in incident_lists.TABS.items()
        ],
        "shown_tab": incident_lists.TABS[wanted.tab],
        "count": counts[wanted.tab],
        "narrowed": _narrowed(wanted, options),
        "any": counts["all"] > 0 or bool(wanted.narrowing),
        "options": options,
        "may_triage": reader.may(May.TRIAGE),
        "spark_days": SPARK_DAYS,
    }


def _rows(incidents: list[Incident], cites: bool) -> list[dict[str, Any]]:
    pks = [each.pk for each in incidents]
    counts = daily_runs(incident_pks=pks, days=SPARK_DAYS)
    agents = agents_of_incidents(incident_pks=pks)
    rows = []
    for incident in incidents:
        label, tone = STATES[incident.state]
        rows.append(
            {
                "incident": incident,
                "label": label,
                "tone": tone,
                "priority": PRIORITIES[incident.priority],
                "cites": cites,
                "agents": agents.get(incident.pk, []),
                "spark": spark_of(counts[incident.pk]),
                "recent": sum(counts[incident.pk]),
            }
        )
    return rows


def _narrowed(
    wanted: IncidentFilter, options: list[tuple[str, str, str, list[tuple[str, str]]]]
) -> list[tuple[str, str]]:
    """The filters that are set, as (label, words)."""
    found = [("", f"“{wanted.q}”")] if wanted.q else []
    for _, label, chosen, choices in options:
        if chosen:
            found.append((label, dict(choices)[chosen]))
    return found


def _options(
    reader: Reader, wanted: IncidentFilter
) -> list[tuple[str, str, str, list[tuple[str, str]]]]:
    """The filters as (name, label, chosen value, [(value, words), …])."""
    found = incident_lists.filter_options(project=reader.project)
    people = [(str(each.pk), each.short_name) for each in owners_possible(project=reader.project)]
    offered: list[tuple[str, str, list[tuple[str, str]]]] = [
        ("state", "State", [(state, label) for state, (label, _) in STATES.items()]),
        ("owner", "Owner", [("none", "nobody"), *people]),
        ("priority", "Priority", [(str(value), words) for value, words in PRIORITIES.items()]),
        ("agent", "Agent", [(name, name) for name in found["agent"]]),
        ("detector", "Fault", [(name, fault_title(name)) for name in found["detector"]]),
        ("tool", "Tool", [(name, name) for name in found["tool"]]),
    ]
    filters = []
    for name, label, choices in offered:
        chosen = getattr(wanted, name)
        if chosen and chosen not in dict(choices):
            choices = [(chosen, chosen), *choices]
        if choices:
            filters.append((name, label, chosen, choices))
    return filters


def fault_title(detector: str) -> str:
    """What a fingerprint's detector is called: "Empty result"."""
    return "How it ended" if detector == "ending" else detector_title(detector)
