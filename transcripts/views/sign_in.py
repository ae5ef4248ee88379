"""Choosing a password: by a link that works once, and by who is signed in."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpResponse
from django.urls import reverse_lazy

set_password = auth_views.PasswordResetConfirmView.as_view(
    template_name="registration/set_password.html",
    success_url=reverse_lazy("home"),
    post_reset_login=True,
)


class ChangePassword(auth_views.PasswordChangeView):
    """Ask for the old password, then end every other session of the person."""

    template_name = "registration/change_password.html"
    success_url = reverse_lazy("home")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        messages.success(self.request, "Your password is changed. Other sessions are signed out.")
        return super().form_valid(form)


change_password = ChangePassword.as_view()
