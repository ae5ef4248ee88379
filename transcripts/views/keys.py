"""Settings: API keys of the project."""

from __future__ import annotations

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


class KeyForm(forms.Form):
    """A key to make."""

    name = forms.CharField(max_length=120)
    scopes = forms.MultipleChoiceField(
        choices=KeyScope.choices, error_messages={"required": "Say what the key may do."}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def key_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The project's keys; makes one on POST and shows it, this once."""
    form = KeyForm(request.POST or None)
    new_key = None
    if request.method == "POST" and form.is_valid():
        key, token = api_keys.key_create(
            project=reader.project,
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            user=reader.user,
        )
        detail = {"made": key.prefix, "scopes": key.scopes}
        note_access(request, reader, AccessAction.KEY, None, detail)
        new_key = {"name": key.name, "token": token}
        form = KeyForm()
    rows = people.key_list(project=reader.project)
    context = {
        "section": "settings",
        "keys": [(key, _scope_words(key)) for key in rows],
        "scopes": KeyScope.choices,
        "chosen_scopes": request.POST.getlist("scopes") if form.errors else [KeyScope.INGEST],
        "form": form,
        "new_key": new_key,
    }
    status = 422 if form.errors else 200
    return render(request, "transcripts/key_list.html", context, status=status)


@require_POST
@project_page(May.ADMINISTER)
def key_revoke(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """End a key."""
    key = people.key_by_id(project=reader.project, pk=pk)
    if key is None:
        raise Http404("No such key of this project.")
    api_keys.key_revoke(key=key)
    note_access(request, reader, AccessAction.KEY, None, {"revoked": key.prefix})
    messages.success(request, f"{key.name} is revoked: whoever uses it is refused.")
    return redirect("transcripts:key_list", reader.project.slug)


def _scope_words(key: ApiKey) -> str:
    words = dict(KeyScope.choices)
    return ", ".join(str(words.get(scope, scope)) for scope in key.scopes)
