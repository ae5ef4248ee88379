"""Settings: members of the project."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction, Role
from transcripts.models import Membership
from transcripts.pages import note_access, project_page
from transcripts.selectors import people
from transcripts.services import members
from transcripts.services.member_undo import MEMBER, MEMBERS
from transcripts.undo import change_offer
from transcripts.undo_rows import Told
from transcripts.views.invitations import invited
from transcripts.views.members_page import members_page


class MemberForm(forms.Form):
    """A person to add or invite."""

    email = forms.EmailField(max_length=254)
    role = forms.ChoiceField(choices=Role.choices, initial=Role.OBSERVER)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def member_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Who belongs to the project; on POST adds who has an account, and invites who has none."""
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        email, role = form.cleaned_data["email"], form.cleaned_data["role"]
        try:
            added = members.member_add_known(project=reader.project, email=email, role=role)
        except members.AlreadyMemberError as error:
            form.add_error("email", str(error))
        else:
            if added is None:
                return invited(request, reader, email=email, role=role)
            detail = {"added": email, "before": None, "after": _rights(added)}
            note_access(request, reader, AccessAction.MEMBER, None, detail)
            words = f"{email} is a member now, as {Role(role).label.lower()}."
            _tell(request, reader, None, added, words)
            return redirect("transcripts:member_list", reader.project.slug)
    return members_page(request, reader, form=form)


@require_POST
@project_page(May.ADMINISTER)
def member_change(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Change a member's role, and whether restricted runs may be read."""
    membership = membership_of(reader, pk)
    role = request.POST.get("role", "")
    restricted = "restricted" in request.POST
    if role not in Role.values:
        messages.error(request, "There is no such role.")
    else:
        before, told = _rights(membership), MEMBERS.told(membership)
        try:
            members.member_change(membership=membership, role=role, restricted=restricted)
        except members.LastAdministratorError as error:
            messages.error(request, str(error))
        else:
            email = membership.user.email
            detail = {"changed": email, "before": before, "after": _rights(membership)}
            note_access(request, reader, AccessAction.MEMBER, None, detail)
            read = " and reads restricted runs" if restricted else ""
            words = f"{email} is {Role(role).label.lower()} now{read}."
            _tell(request, reader, told, membership, words)
    return redirect(_after(reader, membership))


@require_POST
@project_page(May.ADMINISTER)
def member_remove(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """End a membership."""
    membership = membership_of(reader, pk)
    email, before, told = membership.user.email, _rights(membership), MEMBERS.told(membership)
    try:
        members.member_remove(membership=membership)
    except members.LastAdministratorError as error:
        messages.error(request, str(error))
        return redirect("transcripts:member_list", reader.project.slug)
    detail = {"removed": email, "before": before, "after": None}
    note_access(request, reader, AccessAction.MEMBER, None, detail)
    _tell(request, reader, told, membership, f"{email} is no longer a member.")
    return redirect(_after(reader, membership))


def membership_of(reader: Reader, pk: int) -> Membership:
    found = people.member_by_id(project=reader.project, pk=pk)
    if found is None:
        raise Http404("No such member of this project.")
    return found


def _rights(membership: Membership) -> dict[str, object]:
    """What a membership gives, for the audit log."""
    return {"role": membership.role, "restricted": membership.restricted}


def _tell(
    request: HttpRequest, reader: Reader, before: Told | None, now: Membership, words: str
) -> None:
    """Say what was done, with a way back for who still administers the project."""
    if _gave_up(reader, now):
        messages.success(request, words)
        return
    after = None if now.pk is None else MEMBERS.told(now)
    if before == after:
        messages.info(request, "Nothing has changed.")
        return
    noted = {"rows": [(before, after)]}
    change_offer(request=request, reader=reader, kind=MEMBER, before=noted, words=words)


def _gave_up(reader: Reader, membership: Membership) -> bool:
    """Whether the reader has just given up being administrator."""
    own = membership.user_id == reader.user.pk
    return own and (membership.pk is None or membership.role != Role.ADMIN)


def _after(reader: Reader, membership: Membership) -> str:
    """Back to the members; who has just given up being administrator goes to the runs."""
    if _gave_up(reader, membership):
        return reverse("home")
    return reverse("transcripts:member_list", args=[reader.project.slug])
