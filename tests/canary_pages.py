"""Canaries in what people type on pages about runs, and in what their CI sends of test cases."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape, quoteattr

from analysis.cases.harness import replay
from tests.agentdesk.rig import ROOT
from tests.analysis.cases import vpn

if TYPE_CHECKING:
    from tests.test_canaries import Sent


def work_on(sent: Sent, person: Mapping[str, str]) -> None:
    """Notes, cases, results, views, labels, holds, alerts, limits: each once as it is meant, and
    once so that it is refused.
    """
    ((run,),) = sent.rig.rows("SELECT id FROM transcripts_run WHERE run_id = 'whole run'")
    _say(sent, person, run)
    _decide(sent, person, run)
    _settle(sent, person)
    _make_cases(sent, person, run)
    _command(sent)


def typed(sent: Sent, person: Mapping[str, str], way: str, place: str, wanted: int,
          **fields: str) -> None:  # fmt: skip
    """A form as a browser sends it."""
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    sent.post(way, f"/p/p/{place}", urlencode(fields).encode(), wanted, **person, **kind)


def _say(sent: Sent, person: Mapping[str, str], run: int) -> None:
    told = sent.aviary.told
    link = f"https://fix.example/{sent.aviary.texts('link of a fix')['github']}"
    cause = {"kind": "root_cause", "cause": "not_a_fault"}
    said = {"text": told("root cause"), "fix_link": link}
    typed(sent, person, "root cause", f"runs/{run}/annotate/", 302, **cause, **said)
    bad = {"text": told("refused note"), "fix_link": told("no link")}
    typed(sent, person, "refused note", f"runs/{run}/annotate/", 422, **cause, **bad)
    answer = told("answer by hand")
    typed(sent, person, "answer by hand", f"runs/{run}/rounds/1/test/?call=0", 302, answer=answer)
    ((note,),) = sent.rig.rows("SELECT id FROM analysis_annotation WHERE kind = 'root_cause'")
    other = {"cause": "not_a_fault", "text": told("edited note")}
    typed(sent, person, "edited note", f"annotations/{note}/edit/", 302, **other)


def _decide(sent: Sent, person: Mapping[str, str], run: int) -> None:
    told = lambda way: sent.aviary.told(way).replace("\n", " ")  # noqa: E731
    ((number,),) = sent.rig.rows("SELECT number FROM analysis_incident ORDER BY id LIMIT 1")
    place = f"incidents/{number}/change/"
    version = {"action": "resolve", "kind": "prompt"}
    typed(sent, person, "version", place, 302, **version, version=told("version"))
    typed(sent, person, "odd change", place, 302, action=told("action"), owner=told("owner"))
    hold = {"action": "hold", "why": sent.aviary.texts("hold")["github"]}
    typed(sent, person, "hold", f"runs/{run}/keeping/", 302, **hold)
    label = {"do": "label", "run": str(run)}
    for way in ("label", "label=value"):
        text = sent.aviary.texts(way)["github"]
        name = text if way == "label" else f"note={text}"
        typed(sent, person, way, "runs/selected/", 302, **label, label=name)
    query = urlencode({"q": told("view, words"), "agent": told("view, agent")})
    typed(sent, person, "view", "runs/views/", 302, name=told("view, name"), list=query)


def _settle(sent: Sent, person: Mapping[str, str]) -> None:
    secret = lambda way: sent.aviary.texts(way)["github"]  # noqa: E731
    channel = {"add": "channel", "kind": "webhook", "digest_minutes": "0", "time_zone": "UTC"}
    address = f"https://93.184.215.14/{quote(secret('webhook'))}"
    name = secret("channel")
    typed(sent, person, "channel", "settings/alerts/", 422, **channel, name=name,
          address=f"https://127.0.0.1/{quote(secret('refused webhook'))}")  # fmt: skip
    typed(sent, person, "channel kept", "settings/alerts/", 200, **channel, name=name,
          address=address)  # fmt: skip
    ((kept,),) = sent.rig.rows("SELECT id FROM analysis_alertchannel")
    rule = {"add": "rule", "kind": "incident_new", "channel": str(kept)}
    typed(sent, person, "alert rule", "settings/alerts/", 302, **rule, agent=secret("rule, agent"),
          tool=secret("rule, tool"), least="20", window_minutes="60",
          cooldown_minutes="5")  # fmt: skip
    where = urlencode({"agent": secret("limits, agent"), "tool": secret("limits, tool")})
    typed(sent, person, "limits", f"settings/limits/?{where}", 302, repeat_limit="3")
    where = urlencode({"agent": secret("preview, agent")})
    typed(sent, person, "preview", f"settings/limits/?{where}", 200, action="preview", rounds="4")
    scope = {"name": secret("name of a key"), "scopes": "read"}
    typed(sent, person, "name of a key", "settings/keys/", 200, **scope)
    rows = {"rule-TOTAL_FORMS": "1", "rule-INITIAL_FORMS": "0", "action": "save"}
    label = {"rule-0-label": f"note={secret('label of days')}", "rule-0-text_days": "30"}
    typed(sent, person, "label of days", "settings/retention/", 302, **rows, **label)
    erase = {"ticket": secret("ticket to erase"), "confirm": secret("another ticket")}
    typed(sent, person, "ticket to erase", "settings/retention/erase/", 422, **erase)


def _make_cases(sent: Sent, person: Mapping[str, str], run: int) -> None:
    key = sent.rig.manage("key_create", "--project", "p", "--scope", "results", "--scope", "read")
    bearer = {"Authorization": f"Bearer {key.strip()}"}
    told = sent.aviary.told
    sent.post("case", f"/api/v1/runs/{quote('whole run')}/case", b"", 201, **bearer)
    case = _fetched(sent, "/api/v1/cases/CASE-1", bearer)
    case |= {"title": told("case, title")[:200], "notes": told("case, notes")}
    call = {"tool": sent.aviary.texts("case, tool")["github"]}
    case["expect"].append({"id": "words", "kind": "must_call", **call})
    sent.post("case file", "/api/v1/cases", json.dumps(case).encode(), 200, **bearer)
    broken = {**case, "expect": [{"id": told("case, broken"), "kind": told("case, kind")}]}
    sent.post("broken case", "/api/v1/cases", json.dumps(broken).encode(), 422, **bearer)
    sent.post("no case", "/api/v1/cases", told("no case").encode(), 422, **bearer)
    _results(sent, bearer)
    form = {"title": told("form, title").replace("\n", " ")[:200], "notes": told("form, notes")}
    typed(
        sent,
        person,
        "case form",
        "cases/1/edit/",
        422,
        **form,
        **{"e0-kind": "says", "e0-text": ""},
    )


def _results(sent: Sent, bearer: Mapping[str, str]) -> None:
    told = sent.aviary.told
    line = lambda way: sent.aviary.texts(way)["github"]  # noqa: E731
    document = _fetched(sent, "/api/v1/cases/CASE-1", bearer)
    result = replay(document, vpn.new_agent)
    result["versions"] = {name: line(f"result, {name}") for name in ("prompt", "model", "code")}
    for entry in [*result["expectations"], *result["each"]]:
        entry |= {name: told(f"result, {name}") for name in ("text", "why") if name in entry}
    _say_in_replay(sent, result["replays"][0]["transcript"])
    place = "/api/v1/cases/CASE-1/results"
    sent.post("result", place, json.dumps(result).encode(), 201, **bearer)
    odd = {**result, "passed": told("result, count"), "expectations": told("result, no list")}
    sent.post("odd result", place, json.dumps(odd).encode(), 422, **bearer)
    sent.post("broken result", place, json.dumps(result)[:-9].encode(), 422, **bearer)
    test = f"<testcase name={quoteattr(line('JUnit, name'))}>"
    failure = f"<failure message={quoteattr(told('JUnit, message'))}>{escape(told('JUnit'))}"
    junit = f'<testsuite name="CASE-1">{test}{failure}</failure></testcase></testsuite>'
    kind = {**bearer, "Content-Type": "application/xml"}
    versions = urlencode({"prompt": line("JUnit, prompt")})
    sent.post("JUnit", f"{place}?{versions}", junit.encode(), 201, **kind)
    sent.post("broken JUnit", place, junit[:-14].encode(), 422, **kind)


def _say_in_replay(sent: Sent, transcript: dict[str, Any]) -> None:
    """Every text of a replay's transcript, by the loop, its model and its tools."""
    told = sent.aviary.told
    transcript |= {"ending_reason": told("replay, reason"), "title": told("replay, title")}
    for message in transcript["messages"]:
        message["content"] += told("replay, message")
    for entry in transcript["rounds"]:
        entry |= {"reply": told("replay, reply"), "error": told("replay, error")}
        for call in entry["calls"]:
            call |= {"args": {"q": told("replay, args")}, "result": told("replay, result")}
    notes = transcript.setdefault("notes", [])
    notes.append(told("replay, note"))


def _fetched(sent: Sent, address: str, headers: Mapping[str, str]) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", sent.rig.port, timeout=30)
    connection.request("GET", address, headers={"Host": "localhost", **headers})
    found: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return found


def _command(sent: Sent) -> None:
    """Commands that read what is stored or what is typed; what they say is kept as an answer."""
    answers = sent.work / "answers"
    said = sent.rig.manage("export_run", "whole run", "--as", "case", "--project", "p")
    (answers / "desk export").write_text(said, encoding="utf-8")
    for command in (("mask",), ("mask", "--json"), ("check", "-")):
        text = sent.aviary.told(f"desk {' '.join(command)}")
        done = subprocess.run(
            [sys.executable, "desk", *command],
            cwd=ROOT,
            env=sent.rig.environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        (answers / f"desk {' '.join(command)}").write_text(done.stdout + done.stderr)
