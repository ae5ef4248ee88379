"""Send runs: every snippet is run exactly as the page shows it, against a live server; a key and a
test run are made there, and what arrives is shown.

LangGraph itself is too heavy for these tests: its snippet runs with the real dump of a graph's
messages in place of `graph` and of `messages_to_dict`.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import urllib.request
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agentdesk.pipeline import delivery_process
from agentdesk.tasks import live_test as live_test_task
from agentdesk.tasks import run_analyse, trace_assemble
from analysis.models import Incident
from tests.factories import a_key, a_member, a_project, a_stored_run
from transcripts.choices import AccessAction, DeliveryKind, DeliveryState, KeyScope, Role
from transcripts.models import AccessEntry, ApiKey, Delivery, OpenTrace, Project, Run
from transcripts.queueing import LIVE_TEST
from transcripts.services import live_test
from transcripts.services.deliveries import delivery_accept
from transcripts.snippets import snippets

pytestmark = pytest.mark.django_db(transaction=True)
DATA = Path(__file__).parents[2] / "data"
ROOT = Path(__file__).parents[3]
WITHOUT_KEY = ("claude-code", "claude-code-hook", "curl", "file", "langgraph", "python")


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


def page_of(client: Client, live_server: Any, *, new_key: bool) -> str:
    """The page as a browser at the live server gets it."""
    host = live_server.url.removeprefix("http://")
    if new_key:
        address = reverse("transcripts:send_key", args=["helpdesk"])
        answer = client.post(address, headers={"Host": host})
    else:
        address = reverse("transcripts:send_runs", args=["helpdesk"])
        answer = client.get(address, headers={"Host": host})
    assert answer.status_code == 200
    return str(answer.content.decode())


def snippet(page: str, name: str) -> str:
    """What the copy button of that snippet copies."""
    found = re.search(rf'<pre id="{name}">(.*?)</pre>', page, re.DOTALL)
    assert found, name
    return html.unescape(found[1])


class Shell:
    """A folder with what the snippets need, and the environment that they run in."""

    def __init__(self, folder: Path, key: str = "") -> None:
        self.folder = folder
        sessions = folder / ".claude" / "projects" / "-home-me-desk"
        sessions.mkdir(parents=True)
        session = (DATA / "claude_code" / "two_tools.jsonl").read_bytes()
        (sessions / "one.jsonl").write_bytes(session)
        (sessions / "two.jsonl").write_bytes(session.replace(b"s-1", b"s-2"))
        run = {
            "run_id": "of-a-file",
            "rounds": [{"round": 1, "stop": "finished", "reply": "Done."}],
        }
        (folder / "transcript.json").write_text(json.dumps(run))
        stub = folder / "langchain_core"
        stub.mkdir()
        (stub / "__init__.py").touch()
        (stub / "messages.py").write_text("def messages_to_dict(messages):\n    return messages\n")
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {**kept, "HOME": str(folder), "AGENTDESK_KEY": key}

    def run(self, command: list[str], text: str = "") -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def stored() -> set[str]:
    """Do a worker's work; the ids of all runs that are there then."""
    for delivery in Delivery.objects.filter(state=DeliveryState.ACCEPTED).order_by("received_at"):
        delivery_process(delivery.pk)
        delivery.refresh_from_db()
        assert delivery.state == DeliveryState.STORED, (delivery.error, delivery.error_at)
    for trace in OpenTrace.objects.all():
        trace_assemble(trace.pk)
    return set(Run.objects.values_list("run_id", flat=True))


@pytest.mark.parametrize("new_key", [True, False], ids=["with a new key", "with one's own"])
@pytest.mark.parametrize("name", WITHOUT_KEY)
def test_a_snippet_works_as_it_is_shown(
    admin: Client, project: Project, live_server: Any, tmp_path: Path, name: str, new_key: bool
) -> None:
    page = page_of(admin, live_server, new_key=new_key)
    text = snippet(page, name)
    key = "" if new_key else a_key(project, KeyScope.INGEST)[1]
    shell = Shell(tmp_path, key)

    if name in ("python", "langgraph"):
        dump = (DATA / "langchain" / "two_tools_to_dict.json").read_text(encoding="utf-8")
        graph = (
            "import json\n"
            "class graph:\n"
            "    @staticmethod\n"
            f"    def invoke(asked):\n        return {{'messages': json.loads({dump!r})}}\n"
        )
        (tmp_path / "snippet.py").write_text((graph if name == "langgraph" else "") + text)
        told = shell.run([sys.executable, "snippet.py"])
    elif name == "claude-code-hook":
        (entry,) = json.loads(text)["hooks"]["SessionEnd"]
        session = tmp_path / ".claude" / "projects" / "-home-me-desk" / "one.jsonl"
        asked = {"hook_event_name": "SessionEnd", "transcript_path": str(session)}
        told = shell.run(["sh", "-c", entry["hooks"][0]["command"]], json.dumps(asked))
    else:
        told = shell.run(["sh", "-c", text])

    assert "receipt" in told
    runs = stored()
    assert len(runs) == (2 if name == "claude-code" else 1)
    wanted = {"curl": {"first-run"}, "python": {"IT-20931-1"}, "file": {"of-a-file"}}
    assert runs == wanted.get(name, runs)


def test_the_environment_of_opentelemetry_leads_here(
    admin: Client, project: Project, live_server: Any
) -> None:
    """As an exporter reads it (opentelemetry-specification, "OpenTelemetry Protocol Exporter"):
    /v1/traces below the endpoint, headers URL-decoded.
    """
    lines = snippet(page_of(admin, live_server, new_key=True), "otel").splitlines()
    said = dict(line.split("=", 1) for line in lines)
    header, _, value = said["OTEL_EXPORTER_OTLP_HEADERS"].partition("=")
    request = urllib.request.Request(
        said["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces",
        data=(DATA / "otlp" / "two_tools.json").read_bytes(),
        headers={header: unquote(value), "Content-Type": "application/json"},
    )

    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200

    assert len(stored()) == 1


def test_the_command_on_the_server_works_as_it_is_shown(
    admin: Client, project: Project, live_server: Any, tmp_path: Path
) -> None:
    """But for the script around it, which makes an environment first: its command is the same."""
    text = snippet(page_of(admin, live_server, new_key=False), "desk")
    assert text.startswith("./desk import ")
    arguments = text.removeprefix("./desk import ").split()
    shell = Shell(tmp_path)
    from django.db import connection

    settings = connection.settings_dict
    where = f"{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}:{settings['PORT']}"
    environment = {**os.environ, "DATABASE_URL": f"postgresql://{where}/{settings['NAME']}"}

    subprocess.run(
        [sys.executable, ROOT / "manage.py", "import_runs", *arguments],
        cwd=shell.folder, env=environment, check=True, capture_output=True,
    )  # fmt: skip

    assert stored() == {"of-a-file"}


def test_every_snippet_of_the_page_is_tried() -> None:
    names = {each.name for each in snippets(origin="", slug="")}

    assert names == {*WITHOUT_KEY, "otel", "desk"}


def test_a_key_is_made_here_and_shown_once(admin: Client, project: Project) -> None:
    made = admin.post(reverse("transcripts:send_key", args=["helpdesk"])).content.decode()

    key = ApiKey.objects.get()
    text = snippet(made, "new-key")
    assert (key.scopes, text[: len(key.prefix)]) == ([KeyScope.INGEST], key.prefix)
    assert made.count(text) > 5
    assert AccessEntry.objects.get(action=AccessAction.KEY).detail["made"] == key.prefix
    again = admin.get(reverse("transcripts:send_runs", args=["helpdesk"])).content.decode()
    assert text not in again
    assert "$AGENTDESK_KEY" in html.unescape(again)


def test_a_test_run_takes_the_way_of_all(client: Client, project: Project) -> None:
    client.force_login(a_member(project, Role.ENGINEER))

    page = client.post(reverse("transcripts:send_test", args=["helpdesk"]), follow=True)

    assert "Waiting for a worker: 1 of 1" in page.content.decode()
    (run_id,) = stored()
    run = Run.objects.get(run_id=run_id)
    assert ["test", "yes"] in run.labels
    assert (run.round_count, run.ending, run.verdict.flagged) == (2, "finished", False)
    address = f"{page.request['PATH_INFO']}?{page.request['QUERY_STRING']}"
    assert reverse("analysis:run_detail", args=["helpdesk", run.pk]) in (
        client.get(address).content.decode()
    )


def test_a_test_run_can_be_watched_while_it_goes_on(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[tuple[str, str, float]] = []
    monkeypatch.setattr(
        live_test,
        "enqueue",
        lambda task, argument, countdown: queued.append((task, argument, countdown)),
    )
    client.force_login(a_member(project, Role.ENGINEER))

    page = client.post(reverse("transcripts:send_live", args=["helpdesk"]), follow=True)

    assert "A test run is on its way" in page.content.decode()
    seen: list[tuple[int, str]] = []
    warned = []
    while queued:
        stored()
        run = Run.objects.get()
        seen.append((run.round_count, run.ending))
        run_analyse(run.pk)
        live = client.get(reverse("analysis:live_list", args=["helpdesk"])).content.decode()
        warned.append("round 5: empty result" in live)
        task, step, wait = queued.pop()
        assert (task, wait) == (LIVE_TEST, 3.0)
        live_test_task(step)
        live_test_task(step)  # as a queue may do
        queued[1:] = []
    stored()

    run = Run.objects.select_related("verdict").get()
    # The last round says by itself that it is over.
    assert seen == [*((number, "open") for number in range(1, 11)), (11, "finished")]
    assert warned[4]
    assert ["test", "yes"] in run.labels
    assert (run.ending, run.round_count, run.verdict.flagged) == ("finished", 11, False)
    assert not Incident.objects.exists()


def test_what_arrives_is_shown(client: Client, project: Project) -> None:
    client.force_login(a_member(project, Role.OBSERVER))
    a_stored_run(project, run_id="before")
    Run.objects.update(received_at=timezone.now() - timedelta(minutes=5))
    page = client.get(reverse("transcripts:send_runs", args=["helpdesk"])).content.decode()
    again = html.unescape(re.findall(r'hx-get="([^"]*arrived[^"]*)"', page)[0])
    assert "No run has arrived" in page

    run = a_stored_run(project, run_id="the-first")
    a_stored_run(a_project("other"), run_id="elsewhere")
    part = client.get(again, headers={"HX-Request": "true"}).content.decode()

    assert "1 run arrived" in part
    assert reverse("analysis:run_detail", args=["helpdesk", run.pk]) in part
    assert "before" not in part.replace("before this", "")
    assert "elsewhere" not in part
    assert "hx-trigger" in part


def test_what_cannot_be_read_is_told_too(admin: Client, project: Project) -> None:
    page = admin.get(reverse("transcripts:send_runs", args=["helpdesk"])).content.decode()
    again = html.unescape(re.findall(r'hx-get="([^"]*arrived[^"]*)"', page)[0])
    delivery, _ = delivery_accept(project=project, kind=DeliveryKind.FILE, content=b"hm")
    delivery_process(delivery.pk)

    assert "1 delivery in quarantine" in admin.get(again).content.decode()


@pytest.mark.parametrize("query", ["asked=300", "asked=x", "since=nonsense&asked=9999999"])
def test_the_page_stops_looking_and_says_so(admin: Client, project: Project, query: str) -> None:
    address = reverse("transcripts:send_arrived", args=["helpdesk"])

    part = admin.get(f"{address}?{query}").content.decode()

    assert "This page has stopped looking" in part
    assert "hx-get" not in part


def test_only_an_administrator_is_offered_a_key(client: Client, project: Project) -> None:
    address = reverse("transcripts:send_runs", args=["helpdesk"])
    offered = {}
    for role in Role:
        client.force_login(a_member(project, role))
        page = client.get(address).content.decode()
        offered[role] = (
            reverse("transcripts:send_key", args=["helpdesk"]) in page,
            reverse("transcripts:send_test", args=["helpdesk"]) in page,
        )

    assert offered == {
        Role.OBSERVER: (False, False),
        Role.LEAD: (False, False),
        Role.ENGINEER: (False, True),
        Role.ADMIN: (True, True),
    }
