"""The page of an incident put together, in the order in which a lead reads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from django.urls import reverse

from analysis.detectors import detector_named
from analysis.grouping import ENDED
from analysis.incident_words import PRIORITIES, STATES, EventLine, event_line
from analysis.models import Finding, Fingerprint, Incident, IncidentRun, IncidentState, Priority
from analysis.pages.trend_drawing import Trend, trend_of
from analysis.root_causes import RootCause
from analysis.selectors import incidents as selectors
from analysis.selectors.annotations import root_causes_of
from analysis.services.incident_states import OPEN_STATES
from analysis.words import detector_title, verdict_label
from transcripts.access import May, Reader
from transcripts.models import Run, User

TREND_DAYS = 30
RUNS_SHOWN = 10
EVENTS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run of the incident as its page lists it; `address` opens it at the fault."""

    run: Run
    label: str
    tone: str
    sentence: str
    may_read: bool
    round: int | None
    address: str


class IncidentView:
    """One incident as one person's request sees it. Each part is fetched when it is asked for."""

    def __init__(
        self, reader: Reader, incident: Incident, *, events_before: int | None = None
    ) -> None:
        self.reader = reader
        self.incident = incident
        self.cites = reader.may(May.READ_TRANSCRIPTS)
        self._events_before = events_before
        self.label, self.tone = STATES[incident.state]
        self.priority = PRIORITIES[incident.priority]
        self.priorities = list(Priority.choices)

    @property
    def is_open(self) -> bool:
        return self.incident.state in OPEN_STATES

    @property
    def is_new(self) -> bool:
        return self.incident.state == IncidentState.NEW

    @cached_property
    def fingerprints(self) -> list[Fingerprint]:
        return list(self.incident.fingerprints.order_by("pk"))

    @cached_property
    def agents(self) -> list[str]:
        return list(dict.fromkeys(each.agent for each in self.fingerprints if each.agent))

    @cached_property
    def place(self) -> IncidentRun | None:
        """The run that stands for them all, at its fault: the latest that one may read."""
        return selectors.representative_run(
            incident=self.incident, restricted=self.reader.restricted
        )

    @property
    def may_read_place(self) -> bool:
        return self.place is not None and self.reader.may_read(self.place.run)

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        """That of the run that stands for them."""
        pk = self.place.fingerprint_id if self.place else None
        return next((each for each in self.fingerprints if each.pk == pk),
                    self.fingerprints[0] if self.fingerprints else None)  # fmt: skip

    @cached_property
    def finding(self) -> Finding | None:
        if self.place is None or self.fingerprint is None:
            return None
        return selectors.finding_at(place=self.place, detector=self.fingerprint.detector)

    @cached_property
    def advice(self) -> dict[str, str]:
        """`cause` and `fix` in words: the finding's own, else its detector's; and its page."""
        fingerprint = self.fingerprint
        if fingerprint is None or fingerprint.detector == ENDED:
            return {}
        detector = detector_named(fingerprint.detector)
        cause = self.finding.cause if self.finding else detector.cause if detector else ""
        fix = self.finding.fix if self.finding else detector.fix if detector else ""
        return {"cause": cause, "fix": fix, "title": detector_title(fingerprint.detector)}

    @cached_property
    def place_address(self) -> str:
        return self._at(self.place.run, self.place.round) if self.place else ""

    @cached_property
    def runs(self) -> list[RunLine]:
        rows = list(selectors.runs_of_incident(incident=self.incident)[:RUNS_SHOWN])
        places = selectors.places_in(incident=self.incident, run_pks=[run.pk for run in rows])
        return [self._line(run, places.get(run.pk)) for run in rows]

    def _line(self, run: Run, place: IncidentRun | None) -> RunLine:
        verdict = getattr(run, "verdict", None)
        label, tone = verdict_label(verdict.kind if verdict else None)
        number = place.round if place else None
        return RunLine(
            run=run,
            label=label,
            tone=tone,
            sentence=verdict.sentence if verdict else "",
            may_read=self.reader.may_read(run),
            round=number,
            address=self._at(run, number),
        )

    def _at(self, run: Run, number: int | None) -> str:
        address = reverse("analysis:run_detail", args=[self.reader.project.slug, run.pk])
        query = f"?list={self.runs_query_quoted}"
        return f"{address}{query}#r{number}" if number else f"{address}{query}"

    @property
    def runs_query(self) -> str:
        """The run list's filter for the incident's runs."""
        return f"tab=all&incident={self.incident.number}"

    @property
    def runs_query_quoted(self) -> str:
        return quote(self.runs_query, safe="")

    @cached_property
    def causes(self) -> list[tuple[RootCause, RunLine]]:
        """The root causes that people named at its latest runs, each with the latest of them."""
        readable = {line.run.pk: line for line in self.runs if line.may_read}
        named = root_causes_of(run_pks=readable)
        found: dict[RootCause, RunLine] = {}
        for pk, line in readable.items():
            if pk in named:
                found.setdefault(named[pk], line)
        return list(found.items())

    @cached_property
    def trend(self) -> Trend:
        return trend_of(selectors.runs_by_day(incident=self.incident, days=TREND_DAYS))

    @cached_property
    def versions(self) -> list[tuple[str, list[selectors.VersionSeen]]]:
        """Where it was seen, by what: prompts, code, models; what nobody says is left out."""
        columns = (("Prompt", "prompt_version"), ("Code", "code_version"), ("Model", "model"))
        found = [
            (title, selectors.versions_of(incident=self.incident, column=column))
            for title, column in columns
        ]
        return [(title, rows) for title, rows in found if rows]

    @cached_property
    def offered(self) -> dict[str, list[str]]:
        return selectors.versions_offered(incident=self.incident)

    @cached_property
    def _tickets(self) -> tuple[list[tuple[str, int]], int]:
        return selectors.tickets_of(incident=self.incident)

    @property
    def tickets(self) -> list[tuple[str, int]]:
        return self._tickets[0]

    @property
    def ticket_count(self) -> int:
        return self._tickets[1]

    @property
    def tickets_left(self) -> int:
        return self.ticket_count - len(self.tickets)

    @cached_property
    def _goes_with(self) -> tuple[list[tuple[str, int]], int]:
        return selectors.goes_with(incident=self.incident)

    @property
    def goes_with(self) -> list[tuple[str, int]]:
        return self._goes_with[0]

    @property
    def looked_at(self) -> int:
        return self._goes_with[1]

    @cached_property
    def owners(self) -> list[User]:
        return selectors.owners_possible(project=self.reader.project)

    @cached_property
    def _event_rows(self) -> list[Any]:
        return selectors.events_of(
            incident=self.incident, before=self._events_before, limit=EVENTS_SHOWN + 1
        )

    @cached_property
    def events(self) -> list[EventLine]:
        rows = self._event_rows[:EVENTS_SHOWN]
        named = {int(row.detail["person"]) for row in rows if row.detail.get("person")}
        people = {each.pk: each.short_name for each in User.objects.filter(pk__in=named)}
        return [event_line(row, people) for row in rows]

    @property
    def events_before(self) -> int | None:
        """Where the older lines begin; None: these are all."""
        more = len(self._event_rows) > EVENTS_SHOWN
        return self.events[-1].event.pk if more else None
