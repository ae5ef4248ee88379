"""Figures for Prometheus."""

from __future__ import annotations

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from analysis.metrics import ProjectMetrics
from transcripts.api_keys import KeyAuth
from transcripts.choices import KeyScope
from transcripts.problems import ProblemError

# Two Prometheus servers that ask at once cost one reading.
KEPT_SECONDS = 10


@csrf_exempt
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of the key's project, in the text format of Prometheus or OpenMetrics."""
    try:
        key = KeyAuth(KeyScope.READ)(request)
    except ProblemError as error:
        return error.response()
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    name = f"metrics:{key.project_id}:{encode.__name__}:{len(content_type)}"
    text = caches["memory"].get(name)
    if text is None:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(ProjectMetrics(key.project))
        text = encode(registry)
        caches["memory"].set(name, text, KEPT_SECONDS)
    return HttpResponse(text, content_type=content_type)
