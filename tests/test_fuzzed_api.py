"""What the API's document allows, and what it forbids, is answered with any key: never by 500."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode

from agentdesk.wsgi import application
from tests.factories import a_key, a_project, a_stored_run
from transcripts.choices import KeyScope

pytestmark = pytest.mark.django_db(transaction=True)

# Making an example costs many times what answering it does, so that each is sent with every key.
# The requests run in a thread of their own, so that what they read must be committed.
EXAMPLES = 2
KEYS: dict[str, tuple[KeyScope, ...]] = {
    "none": (),
    "ingest": (KeyScope.INGEST,),
    "read": (KeyScope.READ,),
    "results": (KeyScope.RESULTS,),
    "all": tuple(KeyScope),
}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_an_error(mode: GenerationMode) -> None:
    project = a_project()
    a_stored_run(project, run_id="0")
    headers = {
        name: {"Authorization": f"Bearer {a_key(project, *scopes)[1]}"} if scopes else {}
        for name, scopes in KEYS.items()
    }
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)
    answers: dict[str, set[int]] = {}

    for result in schema.get_all_operations():
        operation = result.ok()
        answers[operation.label] = set()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def answered(case: Any) -> None:
            for name, said in headers.items():
                answer = case.call(headers=said)
                assert answer.status_code < 500, (name, case.as_curl_command())
                if name == "none":
                    assert answer.status_code in (401, 404, 405), case.as_curl_command()
                answers[case.operation.label].add(answer.status_code)

        answered()

    assert len(answers) >= 10
    assert all(401 in seen for seen in answers.values()), answers
    assert any(seen & {200, 202, 404, 422} for seen in answers.values())
