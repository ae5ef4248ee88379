"""Testing one recorded call by hand: its code to copy, and what it really answered."""

from __future__ import annotations

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from analysis.models import AnnotationKind
from analysis.pages.call_snippets import call_snippets
from analysis.services.annotations import AnnotationError, Said, annotation_add
from transcripts.access import May, Reader, run_for
from transcripts.cards import call_card
from transcripts.choices import AccessAction
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.selectors import pages
from transcripts.undo import change_tell

# Arguments longer than that are for the export, not for copying by hand.
LONGEST_ARGS = 200_000
LONGEST_ANSWER = 15_000
FENCE = "```"
# Calls of the round before and after the one that is tested, to go on to.
NEIGHBOURS = 20


class AnswerForm(forms.Form):
    """What the tool really answered."""

    answer = forms.CharField(required=False, max_length=LONGEST_ANSWER, strip=False)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.TRIAGE)
def call_test(request: HttpRequest, reader: Reader, pk: int, number: int) -> HttpResponse:
    """Call `?call=` (counted from 0) of a round as code; keeps what it really answered on POST."""
    run = run_for(reader.project, pk, "verdict")
    reader.require_read(run)
    if not 0 < number <= run.last_round:
        raise Http404("This round never came.")
    asked = request.GET.get("call", "")
    index = int(asked) if asked.isdecimal() and len(asked) < 6 else _odd_call(run, number)
    start = max(index - NEIGHBOURS, 0)
    calls = pages.round_calls(run=run, number=number, start=start)[: 2 * NEIGHBOURS + 1]
    call = next((call for call in calls if call["index"] == index), None)
    total = run.calls.filter(round_number=number).count()
    if total and call is None:
        raise Http404("This round has no such call.")
    form = AnswerForm(request.POST or None)
    if request.method == "POST" and call is not None and form.is_valid():
        said = Said(AnnotationKind.TRIED, _told(str(call["name"]), form), round=number)
        try:
            _, change = annotation_add(request=request, reader=reader, about=run, said=said)
        except AnnotationError as error:
            form.add_error("answer", str(error))
        else:
            change_tell(request, f"What it really answered stands at round {number:,}.", change)
            address = reverse("analysis:run_detail", args=[reader.project.slug, run.pk])
            return redirect(f"{address}?at={number}#r{number}")
    note_access(request, reader, AccessAction.READ, run, {"round": number, "call": index})
    context = {
        "section": "runs",
        "run": run,
        "number": number,
        "calls": [call_card(each) for each in calls],
        "others": total - len(calls),
        "call": call_card(call) if call else None,
        "made": _snippets(run, number, index, str(call["name"])) if call else None,
        "form": form,
        "may_read": True,
    }
    status = 422 if form.errors else 200
    return render(request, "analysis/call_test.html", context, status=status)


def _odd_call(run: Run, number: int) -> int:
    verdict = getattr(run, "verdict", None)
    return (verdict.odd_call or 0) if verdict and verdict.odd_round == number else 0


def _snippets(run: Run, number: int, index: int, name: str) -> object:
    place = pages.TextPlace(part="args", number=number, index=index, ident="")
    length = pages.text_length(run=run, place=place) or 0
    if length > LONGEST_ARGS:
        return None
    args = pages.text_slice(run=run, place=place, start=0, size=LONGEST_ARGS)
    return call_snippets(name=name, args=args)


def _told(name: str, form: AnswerForm) -> str:
    """The answer as a block of Markdown, in a fence that it does not hold itself."""
    answer = form.cleaned_data["answer"]
    fence = FENCE
    while fence in answer:
        fence += "`"
    body = answer if answer.strip() else "(nothing)"
    code = name.replace("`", "'")
    return f"`{code}` really answers:\n\n{fence}\n{body}\n{fence}"
