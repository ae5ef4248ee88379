"""Another e-mail address for one's own account: asked for, then confirmed from its mailbox."""

from __future__ import annotations

from typing import cast

from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from transcripts.audit import access_record, client_address
from transcripts.choices import AccessAction
from transcripts.mail import address_changed_send, address_link_send, address_taken_send
from transcripts.models import User
from transcripts.services.members import AddressTakenError, person_readdress
from transcripts.services.sign_in_delays import TooSoonError, address_key, key_of, try_begin
from transcripts.sign_in.adapters import too_soon
from transcripts.sign_in.new_address import LinkOverError, address_in, link_to


class AddressForm(forms.Form):
    """The address that one wants to sign in with."""

    email = forms.EmailField(max_length=254, error_messages={"invalid": "This is no address."})

    def __init__(self, *args: object, user: User, **named: object) -> None:
        super().__init__(*args, **named)  # type: ignore[arg-type]
        self._user = user

    def clean_email(self) -> str:
        email: str = User.objects.normalize_email(self.cleaned_data["email"])
        if email == self._user.email:
            raise forms.ValidationError("You sign in with this one already.")
        return email


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@never_cache
def address_change(request: HttpRequest) -> HttpResponse:
    """Have a link mailed to the new address. The answer is the same for one that has an account,
    whose owner is told by mail.
    """
    user = cast(User, request.user)
    form = AddressForm(request.POST or None, user=user)
    sent = ""
    if settings.AGENTDESK_SENDS_MAIL and request.method == "POST" and form.is_valid():
        email = form.cleaned_data["email"]
        try:
            # Each counts, so that nobody's mailbox is filled.
            try_begin(
                own=key_of("new address", email.casefold()),
                address=address_key(client_address(request)),
            )
        except TooSoonError as error:
            return too_soon(request, error)
        if _asked(user, email):
            sent = email
        else:
            form.add_error("email", "The mail could not be sent. Try again later.")
    context = {"form": form, "sent": sent, "by_mail": settings.AGENTDESK_SENDS_MAIL}
    return render(
        request, "account/address_change.html", context, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def address_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Show what the link would change, and change it on POST. Only whose account it is may: a
    mistyped address is somebody else's.
    """
    user = cast(User, request.user)
    before = user.email
    try:
        email = address_in(token=token, user=user)
        if request.method == "POST":
            person_readdress(user=user, email=email)
    except (LinkOverError, AddressTakenError):
        return render(request, "account/address_over.html", status=410)
    if request.method != "POST":
        return render(request, "account/address_confirm.html", {"email": email})
    access_record(
        project=None,
        action=AccessAction.ADDRESS,
        user=user,
        request=request,
        detail={"before": before, "after": email},
    )
    address_changed_send(before=before, after=email)
    messages.success(request, f"You sign in with {email} from now on.")
    return redirect("account")


def _asked(user: User, email: str) -> bool:
    """Mail who owns the address; False where the mail is not taken."""
    taken = User.objects.filter(email__iexact=email).exclude(pk=user.pk).exists()
    if taken:
        return address_taken_send(email=email)
    return address_link_send(user=user, email=email, link=link_to(user=user, email=email))
