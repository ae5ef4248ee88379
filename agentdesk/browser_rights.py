"""What pages may ask of a browser: to copy, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

REFUSED = (
    "accelerometer",
    "autoplay",
    "bluetooth",
    "browsing-topics",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "hid",
    "identity-credentials-get",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
    "web-share",
    "window-management",
    "xr-spatial-tracking",
)
POLICY = ", ".join(f"{name}=()" for name in REFUSED)


class BrowserRights:
    """Middleware: says so in `Permissions-Policy`, also of what is embedded in a page; and that an
    error, which a view did not answer itself, is not to be kept either.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", POLICY)
        if response.status_code >= 400 and "Cache-Control" not in response.headers:
            add_never_cache_headers(response)
        return response
