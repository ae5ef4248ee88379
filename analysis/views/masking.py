"""Settings: what a project masks, its own rules, what is no secret, and past runs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agentdesk.htmx import is_swap
from analysis import masking_again
from analysis.jobs import job_advance, job_go_on, job_latest, job_start
from analysis.models import Job, JobKind
from analysis.pages.masking import KINDS, built_in_count
from analysis.views.jobs import job_context
from transcripts.access import May, Reader, run_for
from transcripts.masking_choices import project_rule_set
from transcripts.models import MaskingChoice, MaskRule, NotSecret
from transcripts.pages import project_page
from transcripts.services import masking as services
from transcripts.services.masking import MaskingChoiceError
from transcripts.services.masking_undo import CHOICE, CHOICES, ENTRIES, ENTRY, RULE, RULES
from transcripts.undo import change_offer
from transcripts.undo_rows import Pair

# A trial that is done within it is shown at once; else a worker goes on with it.
AT_ONCE_SECONDS = 0.8


class ChoiceForm(forms.Form):
    """What is masked besides secrets."""

    card = forms.BooleanField(required=False)
    iban = forms.BooleanField(required=False)
    email = forms.BooleanField(required=False)
    phone = forms.BooleanField(required=False)
    names = forms.CharField(required=False, max_length=20_000)

    @property
    def kinds(self) -> dict[str, bool]:
        return {kind: self.cleaned_data[kind] for kind in services.KINDS}

    @property
    def name_list(self) -> list[str]:
        return list(self.cleaned_data["names"].replace(",", "\n").splitlines())


class RuleForm(forms.Form):
    """A rule of the project's own."""

    name = forms.SlugField(max_length=40)
    family = forms.SlugField(max_length=40)
    pattern = forms.CharField(max_length=1000, strip=False)
    must = forms.CharField(max_length=2000, strip=False)
    must_not = forms.CharField(max_length=2000, strip=False)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def masking(request: HttpRequest, reader: Reader) -> HttpResponse:
    """What the project masks; tries or saves other choices on POST."""
    form = ChoiceForm(request.POST) if request.method == "POST" else None
    trial: Job | None = None
    if form is not None and form.is_valid():
        try:
            if request.POST.get("action") == "try":
                names = services.names_cleaned(form.name_list)
                wanted = masking_again.trial_of_choices(
                    project=reader.project, kinds=form.kinds, names=names
                )
                trial = _try(reader, wanted)
            else:
                return _save(request, reader, form)
        except MaskingChoiceError as error:
            form.add_error(None, str(error))
    return _answer(request, reader, "analysis/masking.html", form, trial, _context(reader, form))


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def mask_rule(request: HttpRequest, reader: Reader) -> HttpResponse:
    """A rule of the project's own, `?rule=` or a new one; tries or saves it on POST."""
    rule = _rule_asked(request, reader)
    form = RuleForm(request.POST) if request.method == "POST" else None
    trial: Job | None = None
    if form is not None and form.is_valid():
        said = form.cleaned_data
        try:
            if request.POST.get("action") == "try":
                services.mask_rule_check(**said)
                wanted = masking_again.trial_of_rule(
                    name=said["name"], pattern=said["pattern"], family=said["family"]
                )
                trial = _try(reader, wanted)
            else:
                before = RULES.told(rule)
                saved = services.mask_rule_save(
                    project=reader.project, rule=rule, user=reader.user, request=request, **said
                )
                words = f"The rule {said['name']} holds for what comes from now."
                _tell(request, reader, RULE, (before, RULES.told(saved)), words)
                return redirect("analysis:masking", reader.project.slug)
        except MaskingChoiceError as error:
            form.add_error(None, str(error))
    context = {
        "section": "settings",
        "rule": rule,
        "form": form,
        "values": _rule_values(form, rule),
    }
    return _answer(request, reader, "analysis/mask_rule.html", form, trial, context)


@require_POST
@project_page(May.ADMINISTER)
def mask_rule_delete(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Remove a rule of the project's own."""
    rule = MaskRule.objects.filter(project=reader.project, pk=pk).first()
    if rule is None:
        raise Http404("No such rule of this project.")
    before = RULES.told(rule)
    services.mask_rule_remove(project=reader.project, rule=rule, user=reader.user, request=request)
    words = f"The rule {rule.name} is gone. What it masked stays masked."
    _tell(request, reader, RULE, (before, None), words)
    return redirect("analysis:masking", reader.project.slug)


@require_POST
@project_page(May.ADMINISTER)
def not_secret_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Put a value on the list of what is no secret: typed, or a placeholder of a run."""
    why = request.POST.get("why", "")
    try:
        if request.POST.get("run", "").isdecimal():
            entry = services.not_secret_from_run(
                run=run_for(reader.project, int(request.POST["run"]), "project"),
                placeholder_id=request.POST.get("id", ""),
                why=why,
                user=reader.user,
                request=request,
            )
        else:
            entry = services.not_secret_add(
                project=reader.project,
                value=request.POST.get("value", ""),
                why=why,
                user=reader.user,
                request=request,
            )
    except MaskingChoiceError as error:
        messages.error(request, str(error))
    else:
        words = "It is no secret any more, and left alone in what comes from now on."
        _tell(request, reader, ENTRY, (None, ENTRIES.told(entry)), words)
    return redirect("analysis:masking", reader.project.slug)


@require_POST
@project_page(May.ADMINISTER)
def not_secret_delete(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Take a value off that list."""
    entry = NotSecret.objects.filter(project=reader.project, pk=pk).first()
    if entry is None:
        raise Http404("No such entry of this project.")
    before = ENTRIES.told(entry)
    services.not_secret_remove(
        project=reader.project, entry=entry, user=reader.user, request=request
    )
    words = "It is off the list, and masked again in what comes from now on."
    _tell(request, reader, ENTRY, (before, None), words)
    return redirect("analysis:masking", reader.project.slug)


@require_POST
@project_page(May.ADMINISTER)
def runs_mask_again(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Start to mask past runs again: those of an older rule set, or all."""
    wanted, total = masking_again.runs_to_mask(
        project=reader.project, everything="everything" in request.POST
    )
    if not total:
        messages.info(request, "All runs were masked by the rule set of now.")
        return redirect("analysis:masking", reader.project.slug)
    job = job_start(
        project=reader.project,
        kind=JobKind.MASK_AGAIN,
        wanted=wanted,
        total=total,
        user=reader.user,
    )
    job_go_on(job)
    return redirect("analysis:job_detail", reader.project.slug, job.pk)


def _try(reader: Reader, wanted: dict[str, Any]) -> Job:
    """Start a trial, and do as much of it as a person waits for."""
    job = job_start(
        project=reader.project,
        kind=JobKind.MASK_TRIAL,
        wanted=wanted,
        total=reader.project.runs.count(),
        user=reader.user,
    )
    if job_advance(job_pk=job.pk, seconds=AT_ONCE_SECONDS):
        job_go_on(job)
    job.refresh_from_db()
    return job


@transaction.atomic
def _save(request: HttpRequest, reader: Reader, form: ChoiceForm) -> HttpResponse:
    before = CHOICES.told(_choice(reader))
    changed = services.masking_choice_save(
        project=reader.project,
        kinds=form.kinds,
        names=form.name_list,
        user=reader.user,
        request=request,
    )
    if changed:
        words = "Saved what is masked besides secrets. It holds for what comes from now on."
        _tell(request, reader, CHOICE, (before, CHOICES.told(_choice(reader))), words)
    else:
        messages.info(request, "Nothing has changed.")
    return redirect("analysis:masking", reader.project.slug)


def _choice(reader: Reader) -> MaskingChoice | None:
    return MaskingChoice.objects.filter(project=reader.project).first()


def _tell(request: HttpRequest, reader: Reader, kind: str, pair: Pair, words: str) -> None:
    """Say what was done, with a way back."""
    change_offer(request=request, reader=reader, kind=kind, before={"rows": [pair]}, words=words)


def _answer(
    request: HttpRequest,
    reader: Reader,
    template: str,
    form: forms.Form | None,
    trial: Job | None,
    context: dict[str, Any],
) -> HttpResponse:
    told = job_context(reader, trial) if trial else {}
    if request.method == "POST" and is_swap(request):
        return render(request, "analysis/_effect.html", {**told, "form": form})
    status = 422 if form is not None and form.errors else 200
    return render(request, template, {**told, **context}, status=status)


def _rule_asked(request: HttpRequest, reader: Reader) -> MaskRule | None:
    asked = request.GET.get("rule", "")
    if not asked:
        return None
    found = MaskRule.objects.filter(project=reader.project, pk=asked if asked.isdecimal() else 0)
    rule = found.first()
    if rule is None:
        raise Http404("No such rule of this project.")
    return rule


def _rule_values(form: RuleForm | None, rule: MaskRule | None) -> dict[str, str]:
    """What the fields show. Examples of a saved rule are masked, so they are typed again."""
    if form is not None:
        return {name: str(form[name].value() or "") for name in form.fields}
    if rule is not None:
        return {"name": rule.name, "family": rule.family, "pattern": str(rule.pattern)}
    return {}


def _context(reader: Reader, form: ChoiceForm | None) -> dict[str, Any]:
    project = reader.project
    choice = _choice(reader) or MaskingChoice(project=project)
    chosen = (
        {kind for kind in services.KINDS if form[kind].value()}
        if form is not None
        else {kind for kind in services.KINDS if getattr(choice, kind)}
    )
    return {
        "section": "settings",
        "form": form,
        "kinds": [(kind, *words, kind in chosen) for kind, words in KINDS.items()],
        "names": form["names"].value() if form is not None else "\n".join(choice.names),
        "rules": MaskRule.objects.filter(project=project).select_related("changed_by"),
        "entries": NotSecret.objects.filter(project=project).select_related("added_by"),
        "built_in": built_in_count(),
        "rule_set": project_rule_set(project),
        "older": masking_again.older_count(project),
        "older_up_to": masking_again.COUNT_UP_TO,
        "again": job_latest(project=project, kind=JobKind.MASK_AGAIN),
    }
