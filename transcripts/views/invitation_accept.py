"""Taking an invitation, by its link."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.utils import perform_login
from django import forms
from django.contrib import messages
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from transcripts.models import Invitation, User
from transcripts.services import invitations
from transcripts.services.invitations import InvitationGoneError
from transcripts.sign_in.told import joined_record


class AcceptForm(forms.Form):
    """Name and password of a new person."""

    name = forms.CharField(max_length=200, required=False)
    password = forms.CharField(max_length=1000, strip=False)
    again = forms.CharField(max_length=1000, strip=False)

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        password = cleaned.get("password")
        if password is not None and password != cleaned.get("again"):
            self.add_error("again", "The two passwords are not the same.")
        elif password is not None:
            person = User(email=self.email, name=cleaned.get("name", ""))
            try:
                validate_password(password, person)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation_accept(request: HttpRequest, token: str) -> HttpResponse:
    """Show who is invited to what; make the account on POST and sign it in."""
    try:
        invitation = invitations.invitation_find(token=token)
        if request.user.is_authenticated:
            return _signed_in(request, invitation, token)
        return _new_person(request, invitation, token)
    except InvitationGoneError:
        return render(request, "account/invitation_gone.html", status=404)


def _new_person(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    form = AcceptForm(request.POST or None, email=invitation.email)
    if request.method == "POST" and form.is_valid():
        membership = invitations.invitation_accept(
            token=token, name=form.cleaned_data["name"], password=form.cleaned_data["password"]
        )
        joined_record(request=request, membership=membership)
        response: HttpResponse = perform_login(request, membership.user, signup=True)
        return response
    context = {"form": form, "invitation": invitation}
    status = 422 if form.errors else 200
    return render(request, "account/invitation_accept.html", context, status=status)


def _signed_in(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    user = cast(User, request.user)
    if user.email.casefold() != invitation.email.casefold():
        return render(request, "account/invitation_other.html", {"invitation": invitation})
    if request.method == "POST":
        membership = invitations.invitation_join(token=token, user=user)
        joined_record(request=request, membership=membership)
        messages.success(request, f"You are a member of {membership.project.name} now.")
        return redirect("analysis:run_list", membership.project.slug)
    return render(request, "account/invitation_join.html", {"invitation": invitation})
