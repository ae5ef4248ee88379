"""Every address, from the root."""

from django.contrib.auth import views as auth_views
from django.urls import URLPattern, URLResolver, include, path

from agentdesk.api import api_urls
from agentdesk.health import healthz
from transcripts.otlp import spans_send
from transcripts.views.home import home, theme
from transcripts.views.sign_in import change_password, set_password

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("v1/traces", spans_send, name="spans_send"),
    path("api/v1/traces", spans_send),
    path("api/v1/", api_urls()),
    path("theme/", theme, name="theme"),
    path(
        "sign-in/",
        auth_views.LoginView.as_view(
            template_name="registration/sign_in.html", redirect_authenticated_user=True
        ),
        name="sign_in",
    ),
    path("sign-out/", auth_views.LogoutView.as_view(), name="sign_out"),
    path("password/", change_password, name="change_password"),
    path("password/<uidb64>/<token>/", set_password, name="set_password"),
    path("p/<slug:slug>/", include("analysis.urls")),
    path("p/<slug:slug>/", include("transcripts.urls")),
]
