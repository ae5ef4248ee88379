"""Settings: members of the project."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.tokens import default_token_generator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.views.decorators.http import require_http_methods, require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction, Role
from transcripts.models import Membership, User
from transcripts.pages import note_access, project_page
from transcripts.selectors import people
from transcripts.services import members


class MemberForm(forms.Form):
    """A person to add."""

    email = forms.EmailField(max_length=254)
    role = forms.ChoiceField(choices=Role.choices, initial=Role.OBSERVER)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def member_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Who belongs to the project; adds a person on POST."""
    form = MemberForm(request.POST or None)
    invitation = None
    if request.method == "POST" and form.is_valid():
        email, role = form.cleaned_data["email"], form.cleaned_data["role"]
        try:
            added = members.member_add(project=reader.project, email=email, role=role)
        except members.AlreadyMemberError as error:
            form.add_error("email", str(error))
        else:
            note_access(request, reader, AccessAction.MEMBER, None, {"added": email, "role": role})
            messages.success(request, f"{email} is a member now, as {Role(role).label.lower()}.")
            if not added.new_account:
                return redirect("transcripts:member_list", reader.project.slug)
            invitation = {"email": email, "link": _invitation(request, added.membership.user)}
            form = MemberForm()
    context = {
        "section": "settings",
        "members": people.member_list(project=reader.project),
        "roles": Role.choices,
        "form": form,
        "invitation": invitation,
    }
    return render(request, "transcripts/member_list.html", context, status=_status(form))


@require_POST
@project_page(May.ADMINISTER)
def member_change(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Change a member's role, and whether restricted runs may be read."""
    membership = _membership(reader, pk)
    role = request.POST.get("role", "")
    restricted = "restricted" in request.POST
    if role not in Role.values:
        messages.error(request, "There is no such role.")
    else:
        try:
            members.member_change(membership=membership, role=role, restricted=restricted)
        except members.LastAdministratorError as error:
            messages.error(request, str(error))
        else:
            email = membership.user.email
            detail = {"changed": email, "role": role, "restricted": restricted}
            note_access(request, reader, AccessAction.MEMBER, None, detail)
            messages.success(request, f"{email} is now {Role(role).label.lower()}.")
    return redirect(_after(reader, membership))


@require_POST
@project_page(May.ADMINISTER)
def member_remove(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """End a membership."""
    membership = _membership(reader, pk)
    email = membership.user.email
    try:
        members.member_remove(membership=membership)
    except members.LastAdministratorError as error:
        messages.error(request, str(error))
        return redirect("transcripts:member_list", reader.project.slug)
    note_access(request, reader, AccessAction.MEMBER, None, {"removed": email})
    messages.success(request, f"{email} is no longer a member.")
    return redirect(_after(reader, membership))


def _membership(reader: Reader, pk: int) -> Membership:
    found = people.member_by_id(project=reader.project, pk=pk)
    if found is None:
        raise Http404("No such member of this project.")
    return found


def _after(reader: Reader, membership: Membership) -> str:
    """Back to the members; who has just given up being administrator goes to the runs."""
    own = membership.user_id == reader.user.pk
    if own and (membership.pk is None or membership.role != Role.ADMIN):
        return reverse("home")
    return reverse("transcripts:member_list", args=[reader.project.slug])


def _invitation(request: HttpRequest, user: User) -> str:
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return request.build_absolute_uri(reverse("set_password", args=[uid, token]))


def _status(form: forms.Form) -> int:
    return 422 if form.errors else 200
