"""The way to the provider and back."""

from __future__ import annotations

from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.views import OAuth2LoginView
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from transcripts.single_sign_on.flow import CallbackView, CodeFlow


@require_safe
@never_cache
def go_there(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider. A link and no form: the policy of our pages lets forms go
    nowhere else, and whoever is sent there by another site signs in as nobody but themselves.
    """
    return _answer(OAuth2LoginView, request)


@require_safe
@never_cache
def come_back(request: HttpRequest) -> HttpResponse:
    """Take the provider's code."""
    return _answer(CallbackView, request)


@require_safe
def cancelled(request: HttpRequest) -> HttpResponse:
    """Back to the sign-in of who said no at the provider."""
    messages.info(request, "Signing in was cancelled.")
    return redirect("account_login")


def _answer(view: type, request: HttpRequest) -> HttpResponse:
    try:
        response: HttpResponse = view.adapter_view(CodeFlow)(request)  # type: ignore[attr-defined]
    except SocialApp.DoesNotExist:
        raise Http404("No provider is set up.") from None
    return response
