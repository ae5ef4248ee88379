"""What a replay said, beside the run that its test case was made of."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import template_for
from analysis.models import CaseReplay, TestCase
from analysis.pages.case_replay import other_replays, replay_comparison
from analysis.selectors.cases import recorded_run, replayed_run
from analysis.views.cases import case_for, note_case, require_case
from transcripts.access import May, Reader
from transcripts.cards import pretty_json
from transcripts.choices import AccessAction
from transcripts.pages import project_page
from transcripts.record_cards import record_text
from transcripts.selectors.pages import PARTS, TextPlace

# Characters of one text that a page takes at once; the rest is a link away.
TEXT_SLICE = 100_000


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def case_replay(request: HttpRequest, reader: Reader, number: int, pk: int) -> HttpResponse:
    """The recorded run and the replay side by side, from just before they first differ, or from
    pair `?from=`; with `?whole=1` nothing that is the same is folded.
    """
    case, replay = _readable(reader, number, pk)
    both = replay_comparison(case=case, replay=replay)
    comparison = both.comparison
    whole = "whole" in request.GET
    start = _number(request.GET.get("from", ""), comparison.start)
    lines, following = comparison.lines(start, whole=whole)
    note_case(
        request, reader, AccessAction.READ, case, replay=replay.run, of_result=replay.result_id
    )
    context = {
        "section": "cases",
        "case": case,
        "replay": replay,
        "result": replay.result,
        "heads": both.heads(),
        "comparison": comparison,
        "counts": comparison.counts,
        "start": start,
        "lines": lines,
        "following": following,
        "whole": whole,
        "others": other_replays(case=case, replay=replay),
        "run": case.run if case.run and case.run.text_removed_at is None else None,
    }
    template = template_for(request, "analysis/case_replay.html", "pairs")
    return render(request, template, context)


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def case_replay_text(
    request: HttpRequest, reader: Reader, number: int, pk: int, side: str, round: int
) -> HttpResponse:
    """One whole text of the replay, or with the side `recorded` of what was recorded."""
    if side not in ("replayed", "recorded"):
        raise Http404("Neither replayed nor recorded.")
    place = TextPlace(request.GET.get("part", ""), round, _number(request.GET.get("index", ""), 0))
    if place.part not in PARTS:
        return HttpResponseBadRequest(f"part is one of {', '.join(PARTS)}.")
    case, replay = _readable(reader, number, pk)
    record = recorded_run(case=case) if side == "recorded" else replayed_run(replay=replay)
    text = record_text(record, place)
    if text is None:
        raise Http404("This round has no such text.")
    note_case(request, reader, AccessAction.READ, case, round=round, part=place.part)
    start = min(_number(request.GET.get("start", ""), 0), len(text))
    part = text[start : start + TEXT_SLICE]
    whole = len(part) == len(text)
    context = {
        "section": "cases",
        "case": case,
        "replay": replay,
        "side": side,
        "place": place,
        "text": pretty_json(part) if whole else part,
        "length": len(text),
        "first": start + 1,
        "last": start + len(part),
        "next_start": start + len(part) if start + len(part) < len(text) else None,
        "whole": whole,
    }
    template = template_for(request, "analysis/case_replay_text.html", "text")
    return render(request, template, context)


def _readable(reader: Reader, number: int, pk: int) -> tuple[TestCase, CaseReplay]:
    """A replay of a case of the project, whose transcript was kept; 404 for any other."""
    case = case_for(reader, number)
    require_case(reader, case)
    replays = CaseReplay.objects.filter(result__case=case).exclude(transcript="")
    replay = replays.select_related("result").filter(pk=pk).first()
    if replay is None:
        raise Http404("No transcript of such a replay is kept.")
    return case, replay


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else otherwise
