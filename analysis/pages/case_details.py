"""The page of one test case, put together for who reads it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from analysis.case_editing.words import branch_words, expectation_words, mock_words
from analysis.cases.export_pytest import file_name
from analysis.cases.harness import wilson
from analysis.models import CaseResult, TestCase
from analysis.pages.case_versions import GROUPINGS, version_chart, version_rows
from analysis.selectors.cases import (
    case_replays,
    definition_of,
    latest_result,
    may_read_case,
)
from analysis.services.case_incidents import resolve_offer
from analysis.words import detector_title
from transcripts.access import May, Reader
from transcripts.choices import Ending

TROUBLES_SHOWN = 8
REPLAYS_SHOWN = 4


@dataclass(frozen=True)
class Holding:
    """One thing that must hold, and what came of it in the latest result."""

    words: str
    because: str
    state: str
    tone: str
    counts: str
    why: str


TONES = {"passed": "good", "failed": "bad", "not_judged": "quiet"}
STATE_WORDS = {"passed": "holds", "failed": "broken", "not_judged": "not judged"}


def case_context(case: TestCase, reader: Reader, by: str) -> dict[str, Any]:
    """What the page of a case shows to this person."""
    may_read = may_read_case(reader, case)
    definition = definition_of(case)
    by = by if by in GROUPINGS else ""
    rows = version_rows(case, by)
    latest = latest_result(case=case)
    replays = case_replays(case=case, limit=REPLAYS_SHOWN) if may_read else []
    return {
        "case": case,
        "may_read": may_read,
        "definition": definition if may_read else {},
        "holdings": holdings(definition["expect"], latest, may_read=may_read),
        "mocks": [mock_words(mock) for mock in definition.get("mocks", ())] if may_read else [],
        "branches": (
            [branch_words(branch) for branch in definition.get("branches", ())] if may_read else []
        ),
        "latest": latest,
        "replays": replays,
        "comparable": next((replay for replay in replays if not replay.left_out), None),
        "troubles": latest.troubles[:TROUBLES_SHOWN] if latest and may_read else [],
        "endings": endings(latest),
        "rows": rows,
        "by": by,
        "groupings": GROUPINGS,
        "chart": version_chart(rows),
        "offer": resolve_offer(case=case, latest=latest) if _may_resolve(reader, case) else None,
        "standing": standing(case, latest),
    }


def _may_resolve(reader: Reader, case: TestCase) -> bool:
    return may_read_case(reader, case) and reader.may(May.TRIAGE)


def endings(latest: CaseResult | None) -> list[tuple[str, int]]:
    """How the runs of a result ended: (words, runs), the most first."""
    counted = Counter(latest.endings) if latest else Counter()
    return [(str(Ending(name).label), count) for name, count in counted.most_common()]


def holdings(
    expect: list[dict[str, Any]], latest: CaseResult | None, *, may_read: bool
) -> list[Holding]:
    """Each thing that must hold, with the latest result's counts of it."""
    told = {entry["id"]: entry for entry in latest.expectations} if latest else {}
    return [_holding(entry, told.get(entry["id"]), may_read=may_read) for entry in expect]


def _holding(entry: dict[str, Any], told: dict[str, Any] | None, *, may_read: bool) -> Holding:
    counts = state = why = ""
    if told:
        state = told["state"]
        why = _titled(told["why"], entry) if may_read else ""
        if told["runs"] > 1:
            low, high = wilson(told["passed"], told["runs"])
            counts = f"held in {told['passed']} of {told['runs']} runs ({low:.0%} to {high:.0%})"
    return Holding(
        words=expectation_words(entry, may_read=may_read),
        because=entry.get("because", "") if may_read else "",
        state=STATE_WORDS.get(state, ""),
        tone=TONES.get(state, "quiet"),
        counts=counts,
        why=why,
    )


def _titled(why: str, entry: dict[str, Any]) -> str:
    """What the harness says, which knows detectors by their code names alone, in their titles."""
    for name in entry.get("detectors", ()):
        why = re.sub(rf"\b{re.escape(name)}\b", detector_title(name), why)
    return why


def standing(case: TestCase, latest: CaseResult | None) -> tuple[str, str, str]:
    """(label, tone, sentence): how the case stands by its latest result."""
    if latest is None:
        return "not replayed yet", "quiet", "No result has come in yet."
    low, high = wilson(latest.passed, latest.runs)
    many = f": {latest.passed:,} of {latest.runs:,} runs passed ({low:.0%} to {high:.0%})"
    sentence = f"The latest result {latest.state}{many if latest.runs > 1 else ''}"
    if latest.revision != case.revision:
        sentence += (
            f". It is of revision {latest.revision}, and the case is at {case.revision} by now"
            if latest.revision
            else ". It is of a file that is no revision of this case"
        )
    tone = "good" if latest.state == "passed" else "bad"
    return str(latest.get_state_display()), tone, f"{sentence}."


def run_commands(*, case: TestCase | None, origin: str, agent: str = "") -> list[tuple[str, str]]:
    """(what it does, command) of how a case, or a suite, is fetched, replayed and told of."""
    folder = file_name(case.key) if case else "cases"
    query = f"?{urlencode({'agent': agent})}" if agent else ""
    them = "it" if case else "them"
    address = f"cases/{case.key}?as=zip" if case else f"cases.zip{query}"
    return [
        (
            f"Fetch {them}",
            f'curl -fsS -H "Authorization: Bearer $AGENTDESK_KEY" -o {folder}.zip'
            f" '{origin}/api/v1/{address}' && unzip -o {folder}.zip",
        ),
        (f"Replay {them} with pytest", f"AGENTDESK_AGENT=my_package.replay:agent pytest {folder}"),
        (
            f"Replay {them} 20 times and send the result",
            f"python {folder}/harness.py {folder} --agent my_package.replay:agent --runs 20"
            f" --post {origin}",
        ),
    ]
