"""Results sent to Agentdesk."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from analysis.cases.harness.reading import CaseError, brief


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the address that was given, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post(result: Mapping[str, Any], address: str, key: str) -> None:
    """Send a result to Agentdesk, without what the runs printed. Raises CaseError with the reason.

    `address` is Agentdesk's own ("https://desk.example.com") or the whole address of the results.
    """
    if not re.match(r"https?://", address):
        raise CaseError(f"--post: {address!r} is no http address")
    if "/cases/" not in address:
        case = urllib.parse.quote(str(result["case"]), safe="")
        address = f"{address.rstrip('/')}/api/v1/cases/{case}/results"
    each = [{k: v for k, v in entry.items() if k != "printed"} for entry in result["each"]]
    body = json.dumps({**result, "each": each}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    opener = urllib.request.build_opener(NoRedirect)
    for wait in (0.5, 2, None):
        request = urllib.request.Request(address, body, headers, method="POST")
        try:
            with opener.open(request, timeout=30):
                return
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode("utf-8", "replace")
            if (error.code < 500 and error.code != 429) or wait is None:
                raise CaseError(f"--post: {address} answered {error.code}: {brief(said)}") from None
        except OSError as error:
            if wait is None:
                raise CaseError(f"--post: {address}: {error}") from None
        time.sleep(wait or 0)
