"""The provider as django-allauth knows it."""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.providers.base import ProviderAccount
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider
from django.http import HttpRequest, HttpResponse

from transcripts.single_sign_on.flow import NONCE, CodeFlow


class SingleSignOn(OAuth2Provider):
    """One OpenID Connect provider, by the settings AGENTDESK_OIDC_…"""

    id = "single_sign_on"
    name = "single sign-on"
    account_class = ProviderAccount
    oauth2_adapter_class = CodeFlow
    pkce_enabled_default = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.name = self.app.name

    def get_scope_from_request(self, request: HttpRequest) -> list[str]:
        """Always the same: an address of ours does not decide what is asked of the provider."""
        return ["openid", "profile", "email"]

    def get_auth_params_from_request(self, request: HttpRequest, action: str) -> dict[str, str]:
        return {}

    def redirect(
        self, request: HttpRequest, process: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Send the browser to the provider, with a nonce that the id token must bring back."""
        nonce = secrets.token_urlsafe(24)
        kwargs["auth_params"] = {"nonce": nonce}
        # Kept in the session beside the state and the PKCE verifier.
        kwargs[NONCE] = nonce
        try:
            # Never "connect": a link on another site could join its account to this person's.
            response: HttpResponse = super().redirect(request, "login", *args, **kwargs)
        except OAuth2Error as error:
            response = render_authentication_error(request, self, exception=error)
        return response

    def extract_uid(self, data: dict[str, Any]) -> str:
        return str(data["sub"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Nothing of what the provider tells of a person is kept."""
        return {}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"email": data.get("email"), "name": data.get("name")}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        email = data.get("email")
        if not isinstance(email, str):
            return []
        # The words "true" and "false", which some send, are not taken for what they say.
        verified = data.get("email_verified") is True
        return [EmailAddress(email=email, verified=verified, primary=True)]
