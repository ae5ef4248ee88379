"""Settings: API keys of the project."""

from __future__ import annotations

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction, KeyScope
from transcripts.models import ApiKey
from transcripts.pages import note_access, project_page
from transcripts.selectors import people
from transcripts.services import api_keys
from transcripts.services.key_undo import KEYS, REVOKED
from transcripts.undo import change_offer

# In days; and in hours.
TERMS = (
    (0, "until it is revoked"),
    (7, "7 days"),
    (30, "30 days"),
    (90, "90 days"),
    (365, "a year"),
)
OVERLAPS = ((0, "not at all"), (1, "one hour"), (24, "one day"), (168, "one week"))


class KeyForm(forms.Form):
    """A key to make."""

    name = forms.CharField(max_length=120)
    scopes = forms.MultipleChoiceField(
        choices=KeyScope.choices, error_messages={"required": "Say what the key may do."}
    )
    days = forms.TypedChoiceField(choices=TERMS, coerce=int, required=False)


class RotationForm(forms.Form):
    """For how long the old key works beside its successor."""

    hours = forms.TypedChoiceField(choices=OVERLAPS, coerce=int)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def key_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The project's keys; makes one on POST and shows it, this once."""
    form = KeyForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, reader, form=form)
    days = form.cleaned_data["days"]
    key, token = api_keys.key_create(
        project=reader.project,
        name=form.cleaned_data["name"],
        scopes=form.cleaned_data["scopes"],
        user=reader.user,
        lasts=timedelta(days=days) if days else None,
    )
    detail = {"made": key.prefix, "before": None, "after": _told(key)}
    note_access(request, reader, AccessAction.KEY, None, detail)
    return _page(request, reader, new_key={"name": key.name, "token": token})


@require_POST
@project_page(May.ADMINISTER)
def key_rotate(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Make a key's successor and show it, this once; the old one ends after the overlap."""
    key = _key(reader, pk)
    form = RotationForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say how long the old key is to work.")
        return redirect("transcripts:key_list", reader.project.slug)
    hours, before = form.cleaned_data["hours"], _told(key)
    try:
        new, token = api_keys.key_rotate(key=key, overlap=timedelta(hours=hours), user=reader.user)
    except api_keys.KeyOverError as error:
        messages.error(request, str(error))
        return redirect("transcripts:key_list", reader.project.slug)
    key.refresh_from_db()
    detail = {
        "rotated": key.prefix,
        "made": new.prefix,
        "overlap_hours": hours,
        "before": before,
        "after": _told(key),
    }
    note_access(request, reader, AccessAction.KEY, None, detail)
    return _page(request, reader, new_key={"name": new.name, "token": token, "follows": key.prefix})


@require_POST
@project_page(May.ADMINISTER)
def key_revoke(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """End a key."""
    key = _key(reader, pk)
    before, noted = _told(key), KEYS.told(key)
    api_keys.key_revoke(key=key)
    key.refresh_from_db()
    detail = {"revoked": key.prefix, "before": before, "after": _told(key)}
    note_access(request, reader, AccessAction.KEY, None, detail)
    words = f"{key.name} is revoked: whoever uses it is refused."
    if not before["revoked"]:
        pair = {"rows": [(noted, KEYS.told(key))]}
        change_offer(request=request, reader=reader, kind=REVOKED, before=pair, words=words)
    return redirect("transcripts:key_list", reader.project.slug)


def _page(
    request: HttpRequest,
    reader: Reader,
    *,
    form: KeyForm | None = None,
    new_key: dict[str, str] | None = None,
) -> HttpResponse:
    form = form or KeyForm()
    rows = people.key_list(project=reader.project)
    context = {
        "section": "settings",
        "keys": [(key, _scope_words(key)) for key in rows],
        "scopes": KeyScope.choices,
        "terms": TERMS,
        "overlaps": OVERLAPS,
        "chosen_scopes": request.POST.getlist("scopes") if form.errors else [KeyScope.INGEST],
        "form": form,
        "new_key": new_key,
    }
    status = 422 if form.errors else 200
    return render(request, "transcripts/key_list.html", context, status=status)


def _key(reader: Reader, pk: int) -> ApiKey:
    key = people.key_by_id(project=reader.project, pk=pk)
    if key is None:
        raise Http404("No such key of this project.")
    return key


def _told(key: ApiKey) -> dict[str, object]:
    """What a key is, for the audit log."""
    return {
        "name": key.name,
        "scopes": key.scopes,
        "expires": key.expires_at.isoformat() if key.expires_at else "never",
        "revoked": key.revoked_at is not None,
    }


def _scope_words(key: ApiKey) -> str:
    words = dict(KeyScope.choices)
    return ", ".join(str(words.get(scope, scope)) for scope in key.scopes)
