"""Views of the run list that people keep, and the columns that they see."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.lists.filters import RunFilter
from analysis.models import SavedView
from analysis.services import saved_views
from analysis.services.saved_views import ViewError
from transcripts.access import May, Reader
from transcripts.choices import AccessAction, Role
from transcripts.pages import note_access, project_page
from transcripts.undo import change_offer
from transcripts.undo_rows import Pair


@require_POST
@project_page(May.SEE_RUNS)
def view_save(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Keep the list as it is shown under a name."""
    query = RunFilter.of_text(request.POST.get("list", "")).text
    try:
        view, pair = saved_views.view_save(
            reader=reader,
            name=request.POST.get("name", ""),
            query=query,
            columns=saved_views.columns_of(reader=reader),
            shared=bool(request.POST.get("shared")) and reader.may(May.TRIAGE),
        )
    except ViewError as error:
        messages.error(request, str(error))
        return redirect(_list(reader, query))
    note_access(request, reader, AccessAction.SETTINGS, None, {"view": view.pk, "saved": True})
    _tell(request, reader, saved_views.CHANGED, [pair], f"Saved as “{view.name}”.")
    return redirect(_list(reader, query, view))


@require_POST
@project_page(May.SEE_RUNS)
def view_change(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Rename a view, share it, make it a role's default, or delete it."""
    view = SavedView.objects.filter(project=reader.project, pk=pk).first()
    if view is None or not (view.shared or view.user_id == reader.user.pk):
        raise Http404("No such view of yours.")
    if not saved_views.may_change(reader=reader, view=view):
        raise PermissionDenied("Who saved this view may change it, and an administrator.")
    if request.POST.get("do") == "delete":
        gone = saved_views.view_delete(view=view)
        note_access(request, reader, AccessAction.SETTINGS, None, {"view": pk, "deleted": True})
        _tell(request, reader, saved_views.GONE, [gone], f"“{view.name}” deleted.")
        return redirect(_list(reader, view.query))
    default_for = request.POST.get("default_for", view.default_for)
    if default_for not in ("", *Role.values):
        default_for = view.default_for
    try:
        pairs = saved_views.view_change(
            reader=reader,
            view=view,
            name=request.POST.get("name") or view.name,
            shared=bool(request.POST.get("shared")) and reader.may(May.TRIAGE),
            default_for=default_for,
        )
    except ViewError as error:
        messages.error(request, str(error))
        return redirect(_list(reader, view.query, view))
    note_access(request, reader, AccessAction.SETTINGS, None, {"view": pk, "changed": True})
    _tell(request, reader, saved_views.CHANGED, pairs, f"“{view.name}” changed.")
    return redirect(_list(reader, view.query, view))


@require_POST
@project_page(May.SEE_RUNS)
def list_columns(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Choose the columns that one sees."""
    pair = saved_views.columns_choose(reader=reader, columns=request.POST.getlist("column"))
    if pair[0] != pair[1]:
        _tell(request, reader, saved_views.COLUMNS, [pair], "These are the columns that you see.")
    return redirect(_list(reader, RunFilter.of_text(request.POST.get("list", "")).text))


def _tell(request: HttpRequest, reader: Reader, kind: str, pairs: list[Pair], words: str) -> None:
    """Say what was done, with a way back."""
    change_offer(request=request, reader=reader, kind=kind, before={"rows": pairs}, words=words)


def _list(reader: Reader, query: str, view: SavedView | None = None) -> str:
    address = reverse("analysis:run_list", args=[reader.project.slug])
    return f"{address}?{query or 'tab=flagged'}{f'&view={view.pk}' if view else ''}"
