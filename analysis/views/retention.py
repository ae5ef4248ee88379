"""Settings: how long runs are kept, shown before it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.services.keeping import HELD
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.maskers import typed_masker
from transcripts.pages import note_access, project_page
from transcripts.selectors.retention import (
    COUNT_UP_TO,
    Kept,
    Rule,
    retention_preview,
    retention_rules,
)
from transcripts.services.keeping_undo import DAYS, days_told
from transcripts.services.retention import MOST_DAYS, RetentionError, rules_check, rules_set
from transcripts.undo import change_offer

EMPTY_ROWS = 2


class RuleForm(forms.Form):
    """The days of one label; of all runs where the label is empty."""

    label = forms.CharField(max_length=300, required=False)
    text_days = forms.IntegerField(min_value=1, max_value=MOST_DAYS, required=False)
    metadata_days = forms.IntegerField(min_value=1, max_value=MOST_DAYS, required=False)

    def clean_label(self) -> str:
        label: str = self.cleaned_data["label"].strip()
        name, equals, value = label.partition("=")
        if label and not (equals and name.strip() and value.strip()):
            raise forms.ValidationError("Write it as name=value.")
        return f"{name.strip()}={value.strip()}" if label else ""


RuleForms = forms.formset_factory(RuleForm, extra=0, max_num=60, absolute_max=60)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def retention(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The days of the project and its labels. A POST shows what they would remove, and saves them
    when it says `save`.
    """
    rules = retention_rules(project=reader.project)
    context: dict[str, Any] = {
        "section": "settings",
        "rules": [_words(rule) for rule in rules],
        "most_days": MOST_DAYS,
        "count_up_to": COUNT_UP_TO,
    }
    if request.method != "POST":
        context["formset"] = RuleForms(initial=_initial(rules), prefix="rule")
        return render(request, "analysis/retention.html", context)
    formset = RuleForms(request.POST, prefix="rule")
    context["formset"] = formset
    try:
        wanted = _wanted(reader, formset)
        rules_check(rules=wanted)
    except RetentionError as error:
        context["error"] = str(error)
        return render(request, "analysis/retention.html", context, status=422)
    if request.POST.get("action") == "save":
        return _save(request, reader, wanted)
    context |= {
        "preview": {
            kept.name.lower(): retention_preview(
                project=reader.project, rules=wanted, kept=kept, held=HELD
            )
            for kept in Kept
        },
        "previewed": [_words(rule) for rule in wanted],
    }
    return render(request, "analysis/retention.html", context)


@transaction.atomic
def _save(request: HttpRequest, reader: Reader, wanted: Sequence[Rule]) -> HttpResponse:
    before, after = rules_set(project=reader.project, rules=wanted)
    if before != after:
        note_access(
            request,
            reader,
            AccessAction.SETTINGS,
            None,
            {
                "setting": "retention",
                "before": [_words(rule) for rule in before],
                "after": [_words(rule) for rule in after],
            },
        )
        words = "Saved the days. What is past them is removed within some minutes."
        noted = {
            "before": days_told(reader.project, before),
            "after": days_told(reader.project, after),
        }
        change_offer(request=request, reader=reader, kind=DAYS, before=noted, words=words)
    else:
        messages.info(request, "Nothing has changed.")
    return redirect("analysis:retention", reader.project.slug)


def _wanted(reader: Reader, formset: Any) -> list[Rule]:
    """The rules as they were filled in; raises `RetentionError` for what is none."""
    if not formset.is_valid():
        raise RetentionError("Days are whole numbers, and a label is name=value.")
    masker = typed_masker(reader.project)
    rules = []
    for row in formset.cleaned_data:
        if not row or not (row["text_days"] or row["metadata_days"]):
            continue
        name, _, value = row["label"].partition("=")
        rules.append(
            Rule(masker.text(name), masker.text(value), row["text_days"], row["metadata_days"])
        )
    return rules


def _initial(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """The rows of the form: the project's own first, then labels, then empty ones."""
    of_all = next((rule for rule in rules if not rule.name), Rule())
    labelled = [rule for rule in rules if rule.name]
    rows = [
        {
            "label": f"{rule.name}={rule.value}" if rule.name else "",
            "text_days": rule.text_days,
            "metadata_days": rule.metadata_days,
        }
        for rule in (of_all, *labelled)
    ]
    return [*rows, *({} for _ in range(EMPTY_ROWS))]


def _words(rule: Rule) -> str:
    """A rule as people read it: "all runs: transcript 90 days, all of it for ever"."""
    label = f"label {rule.name}={rule.value}" if rule.name else "all runs"
    other = "as for all runs" if rule.name else "for ever"
    text, whole = (_days(days) if days else other for days in (rule.text_days, rule.metadata_days))
    return f"{label}: transcript {text}, all of it {whole}"


def _days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"
