"""Who of those whom the provider names may come in."""

from __future__ import annotations

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render

from transcripts.models import User
from transcripts.services.invitations import account_by_provider
from transcripts.sign_in.told import failure_record, joined_record

logger = logging.getLogger(__name__)


class SingleSignOnAdapter(DefaultSocialAccountAdapter):
    """Joins the provider's person to the account with the verified e-mail address."""

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """None: `pre_social_login` finds the account, after it has seen who asks."""
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse who may not come in; find or make the account of who may."""
        email = self._verified_email(request, sociallogin)
        with transaction.atomic():
            user, joined = account_by_provider(
                email=email,
                name=str(sociallogin.user.name or ""),
                known=sociallogin.user if sociallogin.is_existing else None,
            )
            if user is not None and not sociallogin.is_existing:
                sociallogin.connect(request, user)
        if user is None:
            self._refuse(request, email, "not_invited")
        for membership in joined:
            joined_record(request=request, membership=membership)

    def populate_user(
        self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]
    ) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        user.name = str(data.get("name") or "")[:200]
        return user

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        # The message of a refused token request holds the provider's whole answer.
        said = str(exception or error).partition(": b'")[0]
        logger.warning("sign-in by the provider failed: %s", said)
        failure_record(request=request, email="", how="provider")

    def _verified_email(self, request: HttpRequest, sociallogin: SocialLogin) -> str:
        addresses = sociallogin.email_addresses
        if not addresses or not addresses[0].verified:
            self._refuse(request, addresses[0].email if addresses else "", "not_verified")
        email = str(addresses[0].email)
        domains = settings.AGENTDESK_OIDC_DOMAINS
        if domains and email.rpartition("@")[2].lower() not in domains:
            self._refuse(request, email, "other_domain")
        return email

    def _refuse(self, request: HttpRequest, email: str, why: str) -> None:
        """Answer with the reason; the person has shown who they are, so it gives nothing away."""
        failure_record(request=request, email=email, how="provider")
        context = {"why": why, "email": email, "domains": settings.AGENTDESK_OIDC_DOMAINS}
        page = render(request, "socialaccount/refused.html", context, status=403)
        raise ImmediateHttpResponse(page)
