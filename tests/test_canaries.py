"""No secret reaches a disk, a queue or a log: canaries are sent in every way and through every kind
of failure, and then looked for in all that is stored.

What is searched: a dump of all tables, the raw files of Postgres (rows that were deleted or rolled
back, and the write-ahead log), its server log, all of Redis, all logs, and temporary files. A
control that was left unmasked on purpose is found in each of them, or the search is blind.
"""

from __future__ import annotations

import base64
import http.client
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from tests.agentdesk.rig import ROOT, Rig, wait_until
from tests.canaries import FAMILIES, Aviary, Canary, find, forms
from tests.canary_pages import work_on
from tests.transcripts.importers.spans.wire import protobuf_of

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("canaries")]

CONTROL = "Control-Left-Plain-4417/q"
SPANS = ROOT / "tests/data/otlp/dialect_genai.json"
# Rows as they are, so that the raw files can be searched: neither compressed nor cut up.
STORED_PLAIN = """
DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT attrelid::regclass AS place, attname FROM pg_attribute
      JOIN pg_class ON pg_class.oid = attrelid
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0
        AND NOT attisdropped AND attstorage IN ('x', 'm') LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE EXTERNAL',
                   found.place, found.attname);
  END LOOP;
END $$
"""
# What goes wrong in the middle of a task, by the name of the run's agent.
FAULTS = """
CREATE SEQUENCE tries;
CREATE FUNCTION go_wrong() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.agent = 'retry' AND nextval('tries') < 3 THEN
    RAISE EXCEPTION 'try again' USING ERRCODE = '40001', DETAIL = NEW::text;
  ELSIF NEW.agent = 'integrity' THEN
    RAISE EXCEPTION 'twice' USING ERRCODE = '23505', DETAIL = NEW::text;
  ELSIF NEW.agent = 'crash' THEN
    RAISE EXCEPTION 'odd' USING ERRCODE = 'XX000', DETAIL = NEW::text;
  ELSIF NEW.agent = 'slow' AND nextval('tries') < 100 THEN
    PERFORM setval('tries', 100); PERFORM pg_sleep(3);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER go_wrong AFTER UPDATE ON transcripts_run FOR EACH ROW EXECUTE FUNCTION go_wrong();
"""


@dataclass
class Sent:
    """All that the tests look at: what was sent, and the files of all stores."""

    rig: Rig
    work: Path
    aviary: Aviary = field(default_factory=lambda: Aviary(20931))
    states: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    receipts: dict[str, str] = field(default_factory=dict)

    def post(self, way: str, address: str, body: bytes, wanted: int, **headers: str) -> None:
        """POST as it is; `wanted` is the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.rig.port, timeout=30)
        said = {
            "Authorization": f"Bearer {self.rig.key}",
            "Content-Type": "application/json",
            "Host": "localhost",
            **headers,
        }
        connection.request("POST", address, body, said)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if not address.startswith("/p/"):  # a page says its own address, to come back to
            (self.work / "answers" / f"{len(self.statuses)}").write_bytes(text)
        self.statuses[way] = answer.status
        assert answer.status == wanted, (way, text)
        if answer.status == 202:
            self.receipts[way] = json.loads(text)["receipt"]

    def run(self, way: str, **fields: Any) -> dict[str, Any]:
        """A run with canaries in each of its places."""
        told = lambda place: self.aviary.told(f"{way}, {place}")  # noqa: E731
        calls = self.aviary.texts(f"{way}, arguments")
        return {
            "run_id": way,
            "ticket_id": f"T {self.aviary.texts(f'{way}, ticket id')['github']}",
            "labels": {"note": self.aviary.texts(f"{way}, label")["password"]},
            "messages": [{"key": "m", "role": "user", "content": told("message")}],
            "rounds": [
                {
                    "round": 1,
                    "stop": "wants_tool",
                    "input": {"added": ["m"], "dropped": []},
                    "reply": told("reply"),
                    "reasoning": told("reasoning"),
                    "calls": [
                        {
                            "id": "c1",
                            "name": "look",
                            "args": {"config": calls, "api_key": calls["github"]},
                            "result": json.dumps({"out": told("result in JSON")}),
                        }
                    ],
                },
                {"round": 2, "stop": "error", "error": told("error"), "calls": []},
                {"round": 3, "stop": "finished", "reply": "Done."},
            ],
            **fields,
        }

    def spans(self, way: str) -> dict[str, Any]:
        """A request of spans with canaries in content and attributes."""
        text = SPANS.read_text(encoding="utf-8")
        trace = f"{len(self.aviary.made):032x}"
        request: dict[str, Any] = json.loads(
            text.replace("0af7651916cd43dd8448eb211c80319c", trace)
        )
        places = ("system_instructions", "input.messages", "output.messages", "tool.call.result")
        for group in request["resourceSpans"]:
            for scope in group["scopeSpans"]:
                for span in scope["spans"]:
                    for pair in span["attributes"]:
                        place = pair["key"].removeprefix("gen_ai.")
                        if place in places:
                            told = self.aviary.told(f"{way}, {place}")
                            pair["value"] = _said(place, told)
                    told = self.aviary.told(f"{way}, unknown attribute")
                    span["attributes"].append({"key": "app.x", "value": {"stringValue": told}})
        return request

    def queue(self, name: str) -> None:
        """Write down all that is in Redis, with the bodies that messages hold decoded."""
        client = redis.Redis.from_url(self.rig.valkey.url)
        parts: list[bytes] = []
        for key in client.scan_iter():
            parts += [key, *_values(client, key)]
        client.close()
        (self.work / "redis" / name).write_bytes(b"\n".join([*parts, *_bodies(parts)]))


def _said(place: str, told: str) -> dict[str, str]:
    part = {"type": "text", "content": told}
    if place == "tool.call.result":
        return {"stringValue": told}
    if place == "system_instructions":
        return {"stringValue": json.dumps([part])}
    role = "user" if place == "input.messages" else "assistant"
    return {"stringValue": json.dumps([{"role": role, "parts": [part]}])}


def _values(client: redis.Redis, key: bytes) -> list[bytes]:
    readers: dict[bytes, Any] = {
        b"string": lambda: [client.get(key)],
        b"list": lambda: client.lrange(key, 0, -1),
        b"set": lambda: list(client.smembers(key)),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"hash": lambda: [part for pair in client.hgetall(key).items() for part in pair],
    }
    return list(readers[client.type(key)]())


def _bodies(values: list[bytes]) -> Iterator[bytes]:
    """What Celery's messages carry in base64."""
    for value in values:
        try:
            said = json.loads(value)
            message = said[0] if isinstance(said, list) else said
            yield base64.b64decode(message["body"])
        except (ValueError, KeyError, TypeError, IndexError):
            continue


@pytest.fixture(scope="module")
def sent() -> Iterator[Sent]:
    """Everything is sent, fails where it is to fail, and is stored where it is to be stored."""
    with (
        tempfile.TemporaryDirectory(prefix="agentdesk-canaries-") as folder,
        tempfile.TemporaryDirectory(prefix="agentdesk-searched-") as work,
    ):
        rig = Rig(Path(folder))
        (rig.folder / "tmp").mkdir(mode=0o777)
        rig.environment |= {"AGENTDESK_LOG_LEVEL": "DEBUG", "TMPDIR": str(rig.folder / "tmp")}
        sent = Sent(rig, Path(work))
        for name in ("redis", "answers", "dump"):
            (sent.work / name).mkdir()
        with rig:
            _prepare(rig)
            _send(sent)
            person = _browse(sent)
            _fail(sent)
            work_on(sent, person)
            _leave_controls(sent)
            _write_down(sent)
        yield sent


def _prepare(rig: Rig) -> None:
    rig.manage("collectstatic", "--noinput", "--verbosity", "0")
    with psycopg.connect(rig.postgres.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET wal_compression = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(STORED_PLAIN)
        connection.execute(FAULTS)


def _send(sent: Sent) -> None:
    """Every way in, with no worker, so that all is on the queue at once."""
    rig, aviary = sent.rig, sent.aviary
    whole = json.dumps(sent.run("whole run")).encode()
    sent.post("whole run", "/api/v1/runs", whole, 202)
    for number in (1, 2):
        run = sent.run(f"append {number}")
        rounds = [{**each, "round": each["round"] + 3 * number} for each in run["rounds"]]
        body = {"rounds": rounds, "messages": run["messages"]}
        sent.post(f"append {number}", "/api/v1/runs/live/rounds", json.dumps(body).encode(), 202)
    ending = json.dumps({"ending": "error", "reason": aviary.told("end")}).encode()
    sent.post("end", "/api/v1/runs/live/end", ending, 202)
    chat = [
        {"role": "user", "content": aviary.told("import, user")},
        {"role": "assistant", "content": aviary.told("import, assistant")},
    ]
    sent.post("import", "/api/v1/import", json.dumps({"messages": chat}).encode(), 202)
    spans = json.dumps(sent.spans("OTLP JSON")).encode()
    sent.post("OTLP JSON", "/v1/traces", spans, 200)
    protobuf = {"Content-Type": "application/x-protobuf"}
    spans = protobuf_of(sent.spans("OTLP protobuf"))
    sent.post("OTLP protobuf", "/v1/traces", spans, 200, **protobuf)
    file = sent.work.with_name(sent.work.name + ".json")
    try:
        file.write_text(json.dumps(sent.run("desk import")), encoding="utf-8")
        said = rig.manage("import_runs", str(file), "--project", "p")
    finally:
        file.unlink()
    (sent.work / "answers" / "desk import").write_text(said, encoding="utf-8")
    sent.queue("full")


SIGN_IN = """
from django.conf import settings
from django.test import Client
from transcripts.models import Membership, Project, User
person = User.objects.create_user("admin@p.example")
Membership.objects.create(project=Project.objects.get(slug="p"), user=person, role="admin")
client = Client()
client.force_login(person)
print(settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value)
print(settings.CSRF_COOKIE_NAME)
"""


def _browse(sent: Sent) -> dict[str, str]:
    """What a person sends: files, and texts that are typed into settings; returns who they are."""
    *_, session, csrf = sent.rig.manage("shell", "-c", SIGN_IN).strip().splitlines()
    name, value = session.split()
    token = "t" * 32
    person = {"Cookie": f"{name}={value}; {csrf}={token}", "X-CSRFToken": token}
    aviary = sent.aviary

    def post(way: str, address: str, fields: dict[str, str], wanted: int, file: str = "") -> None:
        body, kind = multipart(fields, file)
        sent.post(way, f"/p/p/{address}", body, wanted, **person, **{"Content-Type": kind})

    post("upload", "send/files/", {}, 302, json.dumps(sent.run("browser upload")))
    post("upload, no run", "send/files/", {}, 302, aviary.told("browser upload, no run"))
    for (held,) in sent.rig.rows("SELECT id FROM transcripts_delivery WHERE state = 'held'"):
        post(f"upload {held}", "send/files/store/", {"delivery": str(held)}, 302)
    told = aviary.told("why it is no secret").replace("\n", " ")
    value = aviary.texts("no secret")["github"].partition("=")[2]
    post("no secret", "settings/masking/no-secrets/", {"value": value, "why": told}, 302)
    rule = {"name": "badge", "family": "badge", "pattern": r"badge (\d{5})"}
    examples = {
        "must": f"badge 44182 {aviary.told('example')}",
        "must_not": aviary.told("other example"),
    }
    post("rule", "settings/masking/rule/", {**rule, **examples}, 302)
    broken = {**rule, **examples, "pattern": aviary.told("pattern").splitlines()[0]}
    post("broken rule", "settings/masking/rule/", broken, 422)
    names = aviary.texts("names of keys")["github"].partition("=")[2]
    post("names of keys", "settings/masking/", {"names": names}, 422)
    limits = json.dumps({aviary.texts("limits file")["github"]: 1})
    body = multipart({}, limits, name="file")
    sent.post(
        "limits file",
        "/p/p/settings/limits/file/",
        body[0],
        302,
        **person,
        **{"Content-Type": body[1]},
    )
    return person


def multipart(fields: dict[str, str], file: str, *, name: str = "files") -> tuple[bytes, str]:
    """A form as a browser sends it, and its content type."""
    parts = [f'name="{field}"\r\n\r\n{value}' for field, value in fields.items()]
    if file:
        parts.append(f'name="{name}"; filename="runs.json"\r\n\r\n{file}')
    told = "".join(f"--cut\r\nContent-Disposition: form-data; {part}\r\n" for part in parts)
    return f"{told}--cut--\r\n".encode(), "multipart/form-data; boundary=cut"


def _fail(sent: Sent) -> None:
    """Bodies that are refused, content that cannot be read, and tasks that fail half-way."""
    aviary = sent.aviary
    broken = json.dumps(sent.run("broken JSON"))[:-40].encode()
    sent.post("broken JSON", "/api/v1/runs", broken, 400)
    for place in ("rounds", "run_id", "started_at"):
        wrong = sent.run(f"wrong {place}", **{place: {aviary.told(f"wrong {place}, name"): 1}})
        sent.post(f"wrong {place}", "/api/v1/runs", json.dumps(wrong).encode(), 422)
    told = aviary.told("wrong type").encode()
    sent.post("wrong type", "/api/v1/runs", told, 415, **{"Content-Type": "text/html"})
    sent.post("wrong key", "/api/v1/runs", told, 401, Authorization="Bearer wrong")
    in_address = aviary.texts("address")["github"].replace("export ", "").replace("=", "%3D")
    sent.post("address", f"/api/v1/runs/{in_address}/rounds", b"{", 400)
    sent.post("query", f"/api/v1/import?format={in_address}", b"{}", 422)
    sent.post("no address", f"/api/v1/{in_address}", b"{}", 404)
    sent.post("page", f"/p/{in_address}/", b"{}", 404)
    sent.post("broken spans", "/v1/traces", aviary.told("broken spans").encode(), 400)
    sent.post("no format", "/api/v1/import", aviary.told("no format").encode(), 202)
    lines = [json.dumps(sent.run("good line")), aviary.told("bad line").replace("\n", " ")]
    sent.post("bad line", "/api/v1/import", "\n".join(lines).encode(), 202)
    for fault in ("integrity", "crash", "retry", "slow"):
        run = sent.run(fault, agent=fault)
        sent.post(fault, "/api/v1/runs", json.dumps(run).encode(), 202)
    _work(sent)


def _work(sent: Sent) -> None:
    """A worker is killed over the slow one, and another does the rest."""
    rig = sent.rig

    def asleep() -> bool:
        return bool(rig.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))

    rig.start_worker()
    wait_until(asleep, seconds=30, why=lambda: str(rig.states()))
    sent.queue("while a worker dies")
    rig.kill("worker")
    rig.start_worker()
    wait_until(
        lambda: (
            "accepted" not in rig.states().values()
            and rig.rows("SELECT count(*) FROM transcripts_run WHERE round_count > 0")[0][0] >= 9
        ),
        seconds=60,
        why=lambda: str(rig.states()),
    )
    sent.states = {way: rig.states()[receipt] for way, receipt in sent.receipts.items()}
    sent.queue("at the end")


def _leave_controls(sent: Sent) -> None:
    """A text that nothing masked, in each store, and in each form in a file of the log folder."""
    rig = sent.rig
    with psycopg.connect(rig.postgres.url, autocommit=True) as connection:
        connection.execute("UPDATE transcripts_project SET name = %s", (CONTROL,))
        connection.execute("CREATE TABLE gone (text text)")
        connection.execute("INSERT INTO gone VALUES (%s)", (CONTROL,))
        connection.execute("DELETE FROM gone")
        connection.execute(f"DO $$ BEGIN RAISE WARNING '{CONTROL}'; END $$")
    client = redis.Redis.from_url(rig.valkey.url)
    body = base64.b64encode(json.dumps([[CONTROL]]).encode()).decode()
    client.rpush("control", json.dumps({"body": body}))
    client.close()
    sent.queue("with the control")
    for form, needle in forms(CONTROL).items():
        around = b"\x00x\n" + needle + b"\n\xff"
        (rig.folder / "log" / f"control {form}").write_bytes(around)
    (rig.folder / "tmp" / "control").write_text(CONTROL)


def _write_down(sent: Sent) -> None:
    rig = sent.rig
    rig.stop("worker")
    with psycopg.connect(rig.postgres.url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    dumped = subprocess.run(
        [str(rig.postgres.binaries.folder / "pg_dump"), "--inserts", rig.postgres.url],
        capture_output=True,
        check=True,
    )
    (sent.work / "dump" / "all.sql").write_bytes(dumped.stdout)
    for name in ("web", "valkey", "postgres"):
        rig.stop(name)


@pytest.fixture(scope="module")
def stores(sent: Sent) -> dict[str, Path]:
    """Folders and files by the name of the store."""
    data = sent.rig.postgres.data
    return {
        "dump": sent.work / "dump",
        "tables": data / "base",
        "write-ahead log": data / "pg_wal",
        "server log": sent.rig.postgres.log,
        "queue": sent.work / "redis",
        "logs": sent.rig.folder / "log",
        "temporary files": sent.rig.folder / "tmp",
    }


def test_what_was_sent_met_its_fate(sent: Sent) -> None:
    """Else the failures that are looked behind never happened."""
    quarantined = {way for way, state in sent.states.items() if state == "quarantined"}

    assert quarantined == {"no format", "bad line", "integrity", "crash"}
    assert set(sent.states.values()) == {"stored", "quarantined"}
    assert len(sent.aviary.made) > 20 * len(FAMILIES)


def test_the_search_sees(sent: Sent, stores: dict[str, Path]) -> None:
    control = [Canary(CONTROL, CONTROL, "control", "all")]
    for name, place in stores.items():
        assert find(control, [place], sent.work), name
    found = find(control, [stores["logs"]], sent.work)
    wanted = set(forms(CONTROL))
    assert {form for form in wanted if any(f"/control {form}" in line for line in found)} == wanted


def test_no_canary_is_stored(sent: Sent, stores: dict[str, Path]) -> None:
    data = sent.rig.postgres.data

    found = find(sent.aviary.made, [*stores.values(), data, sent.rig.folder], sent.work)
    assert "\n".join(found) == ""


def test_no_answer_repeats_a_canary(sent: Sent) -> None:
    found = find(sent.aviary.made, [sent.work / "answers"], sent.work)
    assert "\n".join(found) == ""
