"""The code flow: where the provider is, and what is made of its answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import (
    OAuth2Adapter,
    OAuth2CallbackView,
    OAuth2LoginView,
)
from django.http import HttpRequest, HttpResponse
from requests import RequestException

from transcripts.single_sign_on.claims import ClaimError, claims_read

NONCE = "nonce"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class CodeFlow(OAuth2Adapter):
    """Discovery, token and claims of the configured issuer."""

    provider_id = "single_sign_on"

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self._configuration: dict[str, Any] | None = None
        # Set from the session when the browser comes back.
        self.nonce = ""

    @property
    def configuration(self) -> dict[str, Any]:
        """The provider's metadata (OpenID Connect Discovery 1.0); must be the issuer's own."""
        if self._configuration is None:
            issuer = self.get_provider().app.settings["issuer"]
            found = self._get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != issuer:
                raise OAuth2Error("The provider calls itself by another issuer.")
            encrypted = urlsplit(issuer).scheme == "https"
            for name in ENDPOINTS:
                if encrypted and urlsplit(str(found.get(name))).scheme != "https":
                    raise OAuth2Error(f"The provider's {name} is not an https address.")
            self._configuration = found
        return self._configuration

    @property
    def authorize_url(self) -> str:
        return str(self.configuration["authorization_endpoint"])

    @property
    def access_token_url(self) -> str:
        return str(self.configuration["token_endpoint"])

    @property
    def basic_auth(self) -> bool:
        """How the client shows its secret; by the header unless the provider names another way."""
        ways = self.configuration.get("token_endpoint_auth_methods_supported")
        return "client_secret_basic" in (ways or ["client_secret_basic"])

    @basic_auth.setter
    def basic_auth(self, _: bool) -> None:
        raise AttributeError("The provider says it.")

    def get_access_token_data(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Trade the code, after RFC 9207: an answer of another issuer is not sent to this one."""
        issuer = request.GET.get("iss")
        if issuer is not None and issuer != self.configuration["issuer"]:
            raise OAuth2Error("The answer is another issuer's.")
        return super().get_access_token_data(request, *args, **kwargs)

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """The person whom the provider names; raises `OAuth2Error`."""
        answer: dict[str, Any] = kwargs["response"]
        try:
            claims = claims_read(
                str(answer.get("id_token", "")),
                keys=self._get(self.configuration["jwks_uri"]),
                issuer=self.configuration["issuer"],
                client_id=app.client_id,
                nonce=self.nonce,
            )
        except ClaimError as error:
            raise OAuth2Error(str(error)) from None
        if "email" not in claims and (address := self.configuration.get("userinfo_endpoint")):
            more = self._get(address, bearer=str(answer["access_token"]))
            # Userinfo is not signed: it is believed for the same person alone.
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("The provider speaks of two persons.")
            claims = {**more, **claims}
        return self.get_provider().sociallogin_from_response(request, claims)

    def _get(self, address: str, *, bearer: str = "") -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        try:
            with get_adapter().get_requests_session() as session:
                response = session.get(address, headers=headers, allow_redirects=False)
            found = response.json() if response.status_code == 200 else None
        except RequestException as error:
            raise OAuth2Error(f"The provider does not answer ({type(error).__name__}).") from None
        if not isinstance(found, dict):
            raise OAuth2Error("The provider's answer cannot be read.")
        return found


class LoginView(OAuth2LoginView):
    """django-allauth's: sends the browser to the provider."""


class CallbackView(OAuth2CallbackView):
    """django-allauth's, which hands the nonce of the state on to the claims."""

    def _get_state(
        self, request: HttpRequest, provider: Any
    ) -> tuple[dict[str, Any] | None, HttpResponse | None]:
        state, response = super()._get_state(request, provider)
        self.adapter.nonce = (state or {}).get(NONCE, "")
        return state, response
