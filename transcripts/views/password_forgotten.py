"""A link for who forgot their password."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from transcripts.audit import client_address
from transcripts.models import User
from transcripts.queueing import PASSWORD_LINK, enqueue
from transcripts.services.sign_in_delays import TooSoonError, address_key, key_of, try_begin
from transcripts.sign_in.adapters import too_soon


class ForgottenForm(forms.Form):
    """Whose password it is."""

    email = forms.EmailField(max_length=254)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def password_forgotten(request: HttpRequest) -> HttpResponse:
    """Have a link mailed. The answer, and how long it takes, is the same for every address: the
    worker looks whether there is an account.
    """
    if not settings.AGENTDESK_SENDS_MAIL:
        return render(request, "account/password_forgotten.html", {"by_mail": False})
    form = ForgottenForm(request.POST or None)
    sent = request.method == "POST" and form.is_valid()
    if sent:
        email = form.cleaned_data["email"].casefold()
        try:
            # Each counts, so that nobody's mailbox is filled.
            try_begin(
                own=key_of("password link", email), address=address_key(client_address(request))
            )
        except TooSoonError as error:
            return too_soon(request, error)
        found = User.objects.filter(email__iexact=email, is_active=True).first()
        enqueue(PASSWORD_LINK, found.pk if found else 0)
    context = {"by_mail": True, "form": form, "sent": sent}
    status = 422 if form.errors else 200
    return render(request, "account/password_forgotten.html", context, status=status)
