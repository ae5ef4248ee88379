from django.urls import URLPattern, URLResolver, path

from agentdesk.health import healthz

urlpatterns: list[URLPattern | URLResolver] = [path("healthz", healthz, name="healthz")]
