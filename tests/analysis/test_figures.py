"""Pages of figures: tools, insights, live; and the figures for Prometheus."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from analysis.models import Annotation, AnnotationKind
from tests.builders import a_round, a_run, call
from tests.factories import a_key, a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import KeyScope, Role
from transcripts.models import Project, Run, RunTextDue
from transcripts.record import Ending
from transcripts.services import run_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    caches["memory"].clear()
    return a_project("helpdesk")


@pytest.fixture
def observer(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.OBSERVER))
    return client


def page(client: Client, name: str, **query: str) -> str:
    answer = client.get(reverse(f"analysis:{name}", args=["helpdesk"]), query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("name", ["tool_list", "insights", "live_list"])
def test_an_empty_project_is_told_what_to_do(observer: Client, name: str) -> None:
    assert reverse("transcripts:send_runs", args=["helpdesk"]) in page(observer, name)


def test_the_tools_of_the_example(observer: Client, project: Project) -> None:
    the_vpn_run(project)

    text = page(observer, "tool_list", sort="empty")

    assert text.index("reset_vpn_profile") < text.index("check_vpn_status")
    assert 'aria-sort="descending"><a href="?days=30&amp;sort=empty">' in text
    shown = "since=30d&amp;tab=all&amp;"
    assert f"{shown}called=reset_vpn_profile" in text
    assert f"{shown}finding=empty_result&amp;tool=reset_vpn_profile" in text
    assert f"{shown}tool=reset_vpn_profile" in text
    assert f"{shown}finding=failed_result" not in text


def test_insights_sum_up_the_days(observer: Client, project: Project) -> None:
    the_vpn_run(project)
    good = a_shown_run(a_run(a_round(call(), cost=Decimal("0.5")), "Done.", run_id="good"), project)
    Run.objects.filter(pk=good.pk).update(received_at=timezone.now() - timedelta(days=3))
    old = a_shown_run(a_run("Done.", run_id="old"), project)
    Run.objects.filter(pk=old.pk).update(received_at=timezone.now() - timedelta(days=50))

    month, ever = page(observer, "insights"), page(observer, "insights", days="all")

    assert figure(month, "runs") == "2"
    assert figure(ever, "runs") == "3"
    assert figure(month, "with a loop") == "1"
    assert "How runs ended" in month
    assert len(re.findall('<th scope="row">', month)) == 4
    assert "v7" in month or "2026-09" in month


def test_the_table_holds_what_the_chart_of_endings_draws(
    observer: Client, project: Project
) -> None:
    the_vpn_run(project)
    a_shown_run(a_run("Done.", run_id="good"), project)
    a_shown_run(a_run([call()], run_id="stopped"), project)

    text = page(observer, "insights")

    table = text[text.index("The figures behind the charts") :]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)', table.partition("</thead>")[0])
    cells = re.findall(r'<td class="number">([^<]*)', table.partition("</tr></tbody>")[0])
    told = dict(zip(heads[1:], cells, strict=False))
    assert told["Runs"] == "3"
    assert (told["Finished"], told["Stopped or at a limit"], told["Still going"]) == ("1", "2", "0")
    assert (told["Handed off"], told["Cut off, blocked or failed"]) == ("0", "0")


def figure(text: str, name: str) -> str:
    found = re.search(rf"<dt>{name}</dt><dd[^>]*>(?:<a[^>]*>)?([\d,]+)", text)
    assert found is not None, name
    return found[1]


def test_insights_say_how_often_the_detectors_were_right(
    observer: Client, project: Project
) -> None:
    run = the_vpn_run(project)
    for said, really in ((3, 3), (3, 2), (None, None)):
        Annotation.objects.create(
            project=project,
            run=run,
            kind=AnnotationKind.ODD_ROUND,
            round=really,
            said_round=said,
        )

    text = page(observer, "insights")

    assert "People said of <b>3</b> runs" in text
    assert "named it in <b>2</b>" in text
    a_shown_run(a_run("Done.", run_id="other", agent="another"), project)
    assert "Nobody has said yet" in page(observer, "insights", agent="another")


def test_live_runs_show_where_they_are_and_what_looks_odd(
    observer: Client, project: Project
) -> None:
    a_shown_run(
        a_run([call("look", {"n": 1}, "ok")], run_id="calm", ending=Ending.OPEN), project, live=True
    )
    a_shown_run(
        a_run(*([call("mend", {}, "")] for _ in range(6)), run_id="loops", ending=Ending.OPEN),
        project,
        live=True,
    )
    a_shown_run(a_run("Done.", run_id="over"), project)

    text = page(observer, "live_list")

    assert "round 6" in text
    assert "nothing odd so far" in text
    assert "<code>mend</code>" in text
    assert "empty result" in text
    assert "over" not in re.findall(r"<b>(\w+)", text)


def scrape(text: str) -> dict[tuple[str, ...], float]:
    answer = Client(headers={"Authorization": f"Bearer {text}"}).get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_prometheus_reads_the_figures_of_the_keys_project(project: Project) -> None:
    the_vpn_run(project)
    a_shown_run(
        a_run([call("look", {}, "", duration_ms=3)], "Done.", run_id="b", agent="b"), project
    )
    the_vpn_run(a_project())
    _, text = a_key(project, KeyScope.READ)

    found = scrape(text)

    assert found["agentdesk_runs_total", "helpdesk"] == 1
    assert found["agentdesk_runs_flagged_total", "helpdesk"] == 1
    assert found["agentdesk_loops_total", "helpdesk"] == 1
    assert found["agentdesk_run_rounds_bucket", "50.0", "helpdesk"] == 0
    assert found["agentdesk_run_rounds_bucket", "100.0", "helpdesk"] == 1
    assert found["agentdesk_run_rounds_sum", "helpdesk"] == 52
    assert found["agentdesk_tool_calls_total", "empty", "helpdesk", "reset_vpn_profile"] == 25
    assert found["agentdesk_runs_by_ending_total", "helpdesk", "stopped"] == 1
    assert found["agentdesk_window_use_ratio", "helpdesk"] > 0.5
    assert found["agentdesk_queue_age_seconds",] == found["agentdesk_search_age_seconds",] == 0

    with transaction.atomic():
        run_store(project=project, fragment=a_run("Done.", run_id="c"), live=False)
    caches["memory"].clear()
    RunTextDue.objects.update(since=timezone.now() - timedelta(hours=1))
    assert 3_500 < scrape(text)["agentdesk_search_age_seconds",] < 3_660


def test_what_is_kept_between_two_scrapes_stands_in_no_table(project: Project) -> None:
    """Where an erased run's names would stay."""
    the_vpn_run(project)
    _, text = a_key(project, KeyScope.READ)

    first = scrape(text)
    Run.objects.all().delete()

    assert scrape(text) == first
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM sign_in_cache")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("scopes", [(KeyScope.INGEST,), (KeyScope.RESULTS,)])
def test_another_key_reads_no_figures(project: Project, scopes: tuple[KeyScope, ...]) -> None:
    _, text = a_key(project, *scopes)

    assert Client(headers={"Authorization": f"Bearer {text}"}).get("/metrics").status_code == 403
    assert Client().get("/metrics").status_code == 401


def test_times_are_told_in_the_readers_zone(observer: Client, project: Project) -> None:
    run = a_shown_run(a_run("Done.", run_id="r"), project)
    moment = timezone.now().replace(year=2026, month=1, day=5, hour=23, minute=30, second=0)
    Run.objects.filter(pk=run.pk).update(received_at=moment)
    address = reverse("analysis:run_detail", args=["helpdesk", run.pk])

    observer.cookies["tz"] = "Asia/Tokyo"
    assert "2026-01-06 08:30:00 JST" in observer.get(address).content.decode()
    observer.cookies["tz"] = "../../etc/passwd"
    assert "2026-01-05 23:30:00 UTC" in observer.get(address).content.decode()


def test_the_dashboard_and_the_page_about_it_name_what_is_told(project: Project) -> None:
    the_vpn_run(project)
    _, text = a_key(project, KeyScope.READ)
    told = {name for name, *_ in scrape(text)}
    docs = Path(__file__).parent.parent.parent / "docs"
    dashboard = json.loads((docs / "grafana-dashboard.json").read_text())

    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    drawn = set(re.findall(r"agentdesk_\w+", " ".join(expressions)))
    written = set(re.findall(r"`(agentdesk_\w+)`", (docs / "metrics.md").read_text()))

    assert drawn <= told
    plain = {re.sub("_(bucket|sum|count|created)$", "", name) for name in told}
    assert written == plain
