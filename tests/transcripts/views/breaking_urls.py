"""Addresses whose only page raises."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path


def breaking(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("on purpose")


urlpatterns = [path("", breaking)]
