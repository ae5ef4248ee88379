"""Choosing a password by a link that works once."""

from __future__ import annotations

from django.contrib.auth import views as auth_views
from django.urls import reverse_lazy

set_password = auth_views.PasswordResetConfirmView.as_view(
    template_name="registration/set_password.html",
    success_url=reverse_lazy("home"),
    post_reset_login=True,
)
