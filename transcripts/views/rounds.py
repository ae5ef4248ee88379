"""One round closer: what the model saw, a whole text, all calls."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import is_swap, template_for
from transcripts.access import May, Reader, run_for
from transcripts.cards import call_card, message_card, pretty_json
from transcripts.choices import AccessAction
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.selectors import inputs, pages

# Characters of one text that a page takes at once; the rest is a link away.
TEXT_SLICE = 100_000
MESSAGES_PER_PAGE = 60
SHOWN_OF_MESSAGE = 1_200


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def round_input(request: HttpRequest, reader: Reader, pk: int, number: int) -> HttpResponse:
    """What the model read in a round, in order; with `?only=` `new` or `dropped` (since the round
    before), `later` or `gone` (since the first).
    """
    run = _readable(reader, pk)
    if not 0 < number <= run.last_round:
        raise Http404("This round never came.")
    found = inputs.round_input(run=run, number=number)
    note_access(request, reader, AccessAction.READ, run, {"saw": number})
    lists = {
        "new": found.added,
        "dropped": found.dropped,
        "later": found.new,
        "gone": found.gone,
    }
    only = request.GET.get("only", "")
    only = only if only in lists else ""
    start = _number(request.GET.get("start", "")) or 0
    order = lists.get(only, found.idents)
    idents = order[start : start + MESSAGES_PER_PAGE]
    messages = {row["ident"]: row for row in inputs.input_messages(run=run, idents=idents)}
    fresh = found.fresh if not only else [only == "new" or ident in found.added for ident in order]
    dropped = set(found.dropped)

    def entry(ident: str, is_new: bool) -> dict[str, object]:
        row = messages[ident]
        return {
            "card": message_card(row, shown=SHOWN_OF_MESSAGE),
            "name": row["name"],
            "number": row["number"],
            "asked": [call_card(call) for call in row["asked"]],
            "is_new": is_new,
            "just_dropped": ident in dropped,
            "is_goal": ident == run.goal_ident,
            "is_ticket": ident == run.ticket_ident,
            "part": _part_of(row),
            "index": row["result_index"],
        }

    context = {
        "section": "runs",
        "run": run,
        "number": number,
        "found": found,
        "lost": _lost(run, found),
        "only": only,
        "is_gone": only in ("dropped", "gone"),
        "choices": _choices(found),
        "entries": [
            entry(ident, is_new)
            for ident, is_new in zip(idents, fresh[start:], strict=False)
            if ident in messages
        ],
        "start": start,
        "next_start": start + MESSAGES_PER_PAGE if len(order) > start + MESSAGES_PER_PAGE else None,
        "total": len(order),
        "whole_page": not is_swap(request),
        "previous": number - 1 if number > 1 else None,
        "following": number + 1 if number < run.last_round else None,
    }
    template = template_for(request, "transcripts/round_input.html", "messages")
    return render(request, template, context)


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def round_text(request: HttpRequest, reader: Reader, pk: int, number: int) -> HttpResponse:
    """One whole text: a reply, a call's arguments or result, a message; in slices when it is
    long.
    """
    place = pages.TextPlace(
        part=request.GET.get("part", ""),
        number=number,
        index=_number(request.GET.get("index", "0")) or 0,
        ident=request.GET.get("ident", "").replace("\x00", ""),
    )
    if place.part not in pages.PARTS:
        return HttpResponseBadRequest(f"part is one of {', '.join(pages.PARTS)}.")
    run = _readable(reader, pk)
    length = pages.text_length(run=run, place=place)
    if length is None:
        raise Http404("This round has no such text.")
    start = min(_number(request.GET.get("start", "")) or 0, length)
    text = pages.text_slice(run=run, place=place, start=start, size=TEXT_SLICE)
    note_access(request, reader, AccessAction.READ, run, {"round": number, "part": place.part})
    whole = start == 0 and len(text) == length
    context = {
        "section": "runs",
        "run": run,
        "place": place,
        "text": pretty_json(text) if whole else text,
        "length": length,
        "start": start,
        "first": start + 1,
        "last": start + len(text),
        "next_start": start + len(text) if start + len(text) < length else None,
        "previous_start": max(0, start - TEXT_SLICE) if start else None,
        "whole": whole,
    }
    template = template_for(request, "transcripts/round_text.html", "text")
    return render(request, template, context)


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def round_calls(request: HttpRequest, reader: Reader, pk: int, number: int) -> HttpResponse:
    """All calls of a round that has more than its card shows."""
    run = _readable(reader, pk)
    start = _number(request.GET.get("start", "")) or 0
    calls = pages.round_calls(run=run, number=number, start=start)
    if not calls and not run.rounds.filter(number=number).exists():
        raise Http404("This round never came.")
    note_access(request, reader, AccessAction.READ, run, {"round": number})
    total = run.calls.filter(round_number=number).count()
    reached = start + len(calls)
    context = {
        "section": "runs",
        "run": run,
        "number": number,
        "calls": [call_card(call) for call in calls],
        "total": total,
        "first": start + 1,
        "reached": reached,
        "more": reached < total,
        "may_read": True,
    }
    return render(request, "transcripts/round_calls.html", context)


def _choices(found: inputs.RoundInput) -> list[tuple[str, str, str, int]]:
    """Which messages one can ask for: the value of `only`, words, key, and how many there are."""
    choices = [("", "all", "a", len(found.idents))]
    if found.since:
        choices += [
            ("new", f"new since round {found.since:,}", "n", len(found.added)),
            ("dropped", f"gone since round {found.since:,}", "d", len(found.dropped)),
        ]
    if found.first and found.since != found.first and found.since:
        choices += [
            ("later", f"new since round {found.first:,}", "f", len(found.new)),
            ("gone", f"gone since round {found.first:,}", "g", len(found.gone)),
        ]
    return choices


def _lost(run: Run, found: inputs.RoundInput) -> str:
    """What of goal and ticket a round before read and this one does not, in words."""
    named = ((run.goal_ident, "the goal"), (run.ticket_ident, "the ticket"))
    return " and ".join(words for ident, words in named if ident and ident in found.gone)


def _readable(reader: Reader, pk: int) -> Run:
    run = run_for(reader.project, pk)
    reader.require_read(run)
    return run


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 12 else None


def _part_of(row: dict[str, object]) -> str:
    """Which kept text a message stands for, for its "show all" link."""
    if row["reply_of"] is not None:
        return "reply"
    return "result" if row["result_round"] is not None else "message"
