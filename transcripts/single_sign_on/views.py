"""The way to the provider and back."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from allauth.socialaccount.providers import registry
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@require_safe
@never_cache
def go_there(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider. A link and no form: the policy of our pages lets forms go
    nowhere else, and whoever is sent there by another site signs in as nobody but themselves.
    """
    return _answer("LoginView", request)


@require_safe
@never_cache
def come_back(request: HttpRequest) -> HttpResponse:
    """Take the provider's code."""
    return _answer("CallbackView", request)


@require_safe
def cancelled(request: HttpRequest) -> HttpResponse:
    """Back to the sign-in of who said no at the provider."""
    messages.info(request, "Signing in was cancelled.")
    return redirect("account_login")


def _answer(name: str, request: HttpRequest) -> HttpResponse:
    """The answer of a view of `flow`. Its modules cost megabytes, which an installation without a
    provider is spared.
    """
    providers: Any = settings.SOCIALACCOUNT_PROVIDERS
    if not providers["single_sign_on"]["APPS"]:
        raise Http404("No provider is set up.")
    flow = import_module("transcripts.single_sign_on.flow")
    registry.register(import_module("transcripts.single_sign_on.provider").SingleSignOn)
    response: HttpResponse = getattr(flow, name).adapter_view(flow.CodeFlow)(request)
    return response
