"""Every address, from the root."""

from django.urls import URLPattern, URLResolver, include, path

from agentdesk.api import api_urls
from agentdesk.health import healthz
from analysis.views.metrics import metrics
from transcripts.otlp import spans_send
from transcripts.views.home import home, theme

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("v1/traces", spans_send, name="spans_send"),
    path("api/v1/traces", spans_send),
    path("api/v1/", api_urls()),
    path("theme/", theme, name="theme"),
    path("", include("transcripts.sign_in.urls")),
    path("p/<slug:slug>/", include("analysis.urls")),
    path("p/<slug:slug>/", include("transcripts.urls")),
]
