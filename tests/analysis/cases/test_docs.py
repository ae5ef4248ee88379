"""What the documents say is what the product does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.cases.harness import KINDS, MOCKS, Replay
from analysis.cases.harness.command import parser
from analysis.cases.replay import replay_command

ROOT = Path(__file__).parents[3]
CASES = (ROOT / "docs/test-cases.md").read_text(encoding="utf-8")
STORY = (ROOT / "docs/vpn-story.md").read_text(encoding="utf-8")


def read(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / "docs/ci" / name).read_text(encoding="utf-8"))
    return loaded


def options_of(command: str) -> Any:
    """The harness's options in a shell command, read by the harness's own parser."""
    words = shlex.split(re.sub(r"\$\{(\w+):\+(.*?)\}$", r"\2", command.strip()))
    assert words[:2] == ["python", "tests/agent/harness.py"]
    return parser("harness.py").parse_args(words[2:])


def test_the_github_workflow_is_one_and_its_command_is_understood() -> None:
    workflow = read("github-actions.yml")

    job = workflow["jobs"]["replay"]
    step = next(step for step in job["steps"] if step.get("name") == "Replay the test cases")
    asked = options_of(step["run"])
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML 1.1 reads `on` as true
    assert (asked.junit, asked.post) == ("replay.xml", "$AGENTDESK_URL")
    assert step["env"]["AGENTDESK_KEY"] == "${{ secrets.AGENTDESK_KEY }}"
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert job["steps"][-1]["with"]["path"] == asked.junit


def test_the_gitlab_job_is_one_and_its_command_is_understood() -> None:
    job = read("gitlab-ci.yml")["agent-replay"]

    (command,) = job["script"]
    asked = options_of(command)
    assert job["artifacts"]["reports"]["junit"] == asked.junit == "replay.xml"
    assert asked.post == "$AGENTDESK_URL"
    assert job["stage"] == "test"


@pytest.mark.parametrize("name", sorted({*KINDS, *MOCKS}))
def test_every_expectation_and_mock_is_described(name: str) -> None:
    assert f"`{name}`" in CASES


def test_every_public_name_of_a_replay_is_described() -> None:
    public = [name for name in vars(Replay) if not name.startswith("_")]

    assert [name for name in public if not re.search(rf"`{name}\b|, `{name}\b", CASES)] == []


def test_the_loop_in_the_document_runs() -> None:
    from tests.analysis.cases.small import a_case, here, says, wants

    code = re.search(r"```python\n(def agent.*?)```", CASES, re.DOTALL)
    assert code
    namespace: dict[str, Any] = {}
    exec(code[1], namespace)

    trace = here(a_case(wants("look"), says()), namespace["agent"])
    assert (trace.ending, trace.final) == ("finished", "Done.")


@pytest.mark.parametrize("agent", ["old_agent", "new_loop_only", "new_agent"])
def test_the_story_shows_what_the_command_prints(
    agent: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown = re.search(rf"\$ \./desk replay ([^\n]*:{agent})\n(.*?)```", STORY, re.DOTALL)
    assert shown

    replay_command(shlex.split(shown[1]))

    assert capsys.readouterr().out == shown[2]


@pytest.mark.parametrize("text", [CASES, STORY])
def test_links_lead_somewhere(text: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / "docs" / target).exists(), target
