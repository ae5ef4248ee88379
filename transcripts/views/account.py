"""One's own account: name, password, second factor, sessions, one of which can be ended."""

from __future__ import annotations

from typing import cast

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from transcripts.models import User
from transcripts.services.members import person_rename
from transcripts.sign_in.second_factor import has_second_factor, is_required


class NameForm(forms.Form):
    """What the person is called."""

    name = forms.CharField(max_length=200, required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """What there is of the person who is signed in; takes another name on POST."""
    user = cast(User, request.user)
    form = NameForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person_rename(user=user, name=form.cleaned_data["name"])
        messages.success(request, "Your name is saved.")
        return redirect("account")
    codes = Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).first()
    context = {
        "form": form,
        "has_second_factor": has_second_factor(user),
        "factor_required": is_required(user),
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "session_count": len(UserSession.objects.purge_and_list(user)),
        "by_provider": SocialAccount.objects.filter(user=user).exists(),
    }
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
@never_cache
def session_end(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign one's own session out elsewhere; the one that asks is signed out by its own button."""
    session = UserSession.objects.filter(user=cast(User, request.user), pk=pk).first()
    if session is None or session.is_current():
        raise Http404("No such session of yours.")
    end_sessions(request, [session])
    messages.success(request, "That session is signed out.")
    return redirect("usersessions_list")
