"""The OpenAPI document tells of `/v1/traces`, and the answers are as it says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from django.test import Client

from agentdesk.otlp_document import ADDRESS, ERRORS
from tests.agentdesk.test_otlp import JSON, PROTOBUF, a_request, send, spans_of
from tests.agentdesk.test_otlp import client as client
from tests.agentdesk.test_otlp import project as project
from transcripts.otlp import CODES

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def document() -> dict[str, Any]:
    found: dict[str, Any] = Client().get("/api/v1/openapi.json").json()
    return found


def test_every_error_that_is_answered_is_told(document: dict[str, Any]) -> None:
    responses = document["paths"][ADDRESS]["post"]["responses"]

    assert {int(status) for status in responses} == {200, *ERRORS}
    # Errors that only other addresses answer are not told.
    assert set(CODES) - set(ERRORS) == {422}
    assert document["paths"][ADDRESS]["post"]["security"]


@pytest.mark.parametrize(
    ("body", "media", "status"),
    [
        pytest.param({"resourceSpans": []}, JSON, 200, id="taken"),
        pytest.param("partly", JSON, 200, id="partly taken"),
        pytest.param(b"[]", JSON, 400, id="no request"),
        pytest.param(b"{}", "text/html", 415, id="another type"),
    ],
)
def test_answers_fit_it(
    client: Client, document: dict[str, Any], body: Any, media: str, status: int
) -> None:
    if body == "partly":
        body = a_request()
        spans_of(body)[0]["spanId"] = ""

    answer = send(client, body, media)

    assert answer.status_code == status
    told = document["paths"][ADDRESS]["post"]["responses"][str(status)]["content"]
    schema = {**told[JSON]["schema"], "components": document["components"]}
    jsonschema.validate(json.loads(answer.content), schema)
    assert PROTOBUF in told
