"""Ways to send runs, ready to be copied, with this server's own address and a key filled in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote

from transcripts.importers.fields import json_text


@dataclass(frozen=True)
class Snippet:
    """One way: `name` is its element's id, `text` is what is copied, `note` stands below it."""

    name: str
    title: str
    lead: str
    text: str
    note: str = ""


def snippets(*, origin: str, slug: str, key: str = "") -> list[Snippet]:
    """Every way. `key`: a key that was made just now; without one it is read from AGENTDESK_KEY."""
    in_shell = key or "$AGENTDESK_KEY"
    in_python = json.dumps(key) if key else 'os.environ["AGENTDESK_KEY"]'
    in_variable = quote(f"Bearer {key or 'agd_YOUR_KEY'}")
    filled = {
        "ORIGIN": origin,
        "SLUG": slug,
        "KEY_IN_SHELL": in_shell,
        "KEY_IN_PYTHON": in_python,
        "KEY_IN_VARIABLE": in_variable,
    }

    def fill(text: str) -> str:
        for name, value in filled.items():
            text = text.replace(f"@{name}@", value)
        return text

    hook = json.dumps(_hook(fill(_HOOK_COMMAND)), indent=2)
    return [
        Snippet("curl", "From the command line", "A whole run, when it is over.", fill(_CURL)),
        Snippet(
            "python",
            "From inside the loop, in Python",
            "Round by round, as they come; nothing to install.",
            fill(_PYTHON),
        ),
        Snippet(
            "otel",
            "OpenTelemetry",
            "Any SDK that writes spans, by its environment alone.",
            fill(_OTEL),
            "Some SDKs keep the text of messages to themselves unless told otherwise: "
            "docs/opentelemetry.md says how for each.",
        ),
        Snippet(
            "file",
            "A log file, over HTTP",
            "Any known format, plain or packed, recognised by its content.",
            fill(_FILE_HTTP),
        ),
        Snippet(
            "desk",
            "A log file, on the server's own machine",
            "Of any size, with a bar that shows how far it is.",
            fill(_FILE_DESK),
        ),
        Snippet(
            "claude-code",
            "Claude Code sessions",
            "They lie below ~/.claude/projects, a file each. This sends all that are there; "
            "sending one again adds what is new in it.",
            fill(_CLAUDE_CODE),
        ),
        Snippet(
            "claude-code-hook",
            "Claude Code, at the end of each session",
            "Put this into ~/.claude/settings.json, beside what is there.",
            hook,
        ),
        Snippet(
            "langgraph",
            "LangGraph",
            "After the graph has run, send the messages of its state.",
            fill(_LANGGRAPH),
        ),
    ]


def _hook(command: str) -> dict[str, object]:
    entry = {"type": "command", "command": command}
    return {"hooks": {"SessionEnd": [{"hooks": [entry]}]}}


# The run of the test button: two rounds and a tool, so that there is something to see.
TEST_TICKET = "Test run: can this project be reached?"


def check_run(run_id: str) -> bytes:
    """A tiny run in the native format, labelled as a test."""
    run = {
        "format": "agentdesk.run/1",
        "run_id": run_id,
        "ticket_id": "TEST",
        "agent": "agentdesk-test",
        "labels": {"test": "yes"},
        "ending": "finished",
        "messages": [{"key": "ticket", "role": "user", "content": TEST_TICKET}],
        "rounds": [
            {
                "round": 1,
                "input": {"added": ["ticket"]},
                "stop": "wants_tool",
                "calls": [{"name": "look_around", "args": {}, "result": "All is well."}],
            },
            {"round": 2, "stop": "finished", "reply": "It can: you are reading this."},
        ],
    }
    return json_text(run).encode()


_CURL = """\
curl "@ORIGIN@/api/v1/runs" \\
  -H "Authorization: Bearer @KEY_IN_SHELL@" \\
  -H "Content-Type: application/json" \\
  -d '{
    "format": "agentdesk.run/1",
    "run_id": "first-run",
    "ticket_id": "IT-1",
    "agent": "helpdesk",
    "rounds": [
      {"round": 1, "stop": "wants_tool", "calls": [
        {"name": "reset_vpn_profile", "args": {"employee_id": 4417}, "result": ""}]},
      {"round": 2, "stop": "finished", "reply": "Your VPN profile was reset."}
    ]
  }'"""
_PYTHON = """\
import json, os, urllib.request

def send(path, body):
    request = urllib.request.Request(
        "@ORIGIN@/api/v1" + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + @KEY_IN_PYTHON@,
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)

run_id = "IT-20931-1"
send(f"/runs/{run_id}/rounds", {
    "ticket_id": "IT-20931",
    "agent": "helpdesk",
    "rounds": [{
        "round": 1,
        "stop": "wants_tool",
        "calls": [{"name": "get_employee", "args": {"id": 4417}, "result": "4417, accountant"}],
    }],
})
print(send(f"/runs/{run_id}/end", {"ending": "finished"}))"""
_OTEL = """\
OTEL_EXPORTER_OTLP_ENDPOINT=@ORIGIN@
OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
OTEL_EXPORTER_OTLP_HEADERS=Authorization=@KEY_IN_VARIABLE@
OTEL_SERVICE_NAME=@SLUG@
OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"""
_FILE_HTTP = """\
curl "@ORIGIN@/api/v1/import?format=auto" \\
  -H "Authorization: Bearer @KEY_IN_SHELL@" \\
  --data-binary @transcript.json"""
_FILE_DESK = "./desk import transcript.json --project @SLUG@"
_CLAUDE_CODE = """\
for session in ~/.claude/projects/*/*.jsonl; do
  curl "@ORIGIN@/api/v1/import?format=claude_code" \\
    -H "Authorization: Bearer @KEY_IN_SHELL@" \\
    --data-binary @"$session"
done"""
_HOOK_COMMAND = (
    "python3 -c 'import json, sys; print(json.load(sys.stdin)[\"transcript_path\"])' | "
    'xargs -I FILE curl -sS "@ORIGIN@/api/v1/import?format=claude_code" '
    '-H "Authorization: Bearer @KEY_IN_SHELL@" --data-binary @FILE'
)
_LANGGRAPH = """\
import json, os, urllib.request
from langchain_core.messages import messages_to_dict

def send(state):
    request = urllib.request.Request(
        "@ORIGIN@/api/v1/import?format=langchain",
        data=json.dumps(messages_to_dict(state["messages"]), default=str).encode(),
        headers={
            "Authorization": "Bearer " + @KEY_IN_PYTHON@,
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)

print(send(graph.invoke({"messages": [("user", "My VPN drops.")]})))"""
