"""What a made-up agent works in: words, tools, records and how its tools write them down.

A seed belongs to one part of the words: odd seeds to `pools/reporting.toml`, even ones to
`tuning_a.toml` (2, 6, 10 ...) or `tuning_b.toml` (4, 8, 12 ...). The parts share no name, text or
tool, so a rule that was looked at with even seeds is measured with an odd one on words that it has
never seen.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from bench.detect.sketch import CallSketch, Sketch, StepSketch
from transcripts.record import Tool

POOLS = Path(__file__).parent / "pools"
AGENTS = ("helpdesk", "booking", "coding", "research", "ops")
PROVIDERS = ("openai", "openai", "anthropic", "anthropic", "google", "ollama")
MODELS = {
    "openai": "gpt-4.1",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-2.5-pro",
    "ollama": "qwen3:32b",
}
STYLES = (
    "json",
    "json",
    "envelope",
    "mcp",
    "lines",
    "prose",
    "table",
    "csv",
    "html",
    "xml",
    "yaml",
    "repr",
)
STRING_PAGES = {"cursor", "page_token"}


def part_of(seed: int) -> str:
    """The name of the words that a seed uses."""
    if seed % 2:
        return "reporting"
    return "tuning_a" if seed % 4 == 2 else "tuning_b"


@cache
def load_pool(part: str) -> dict[str, Any]:
    return tomllib.loads((POOLS / f"{part}.toml").read_text(encoding="utf-8"))


class World:
    """One run in the making: its random numbers, its words, and the sketch that grows."""

    def __init__(self, seed: int, index: int, agent: str) -> None:
        self.rng = random.Random(f"{seed}/{index}/{agent}")
        self.pool = load_pool(part_of(seed))
        self.agent = agent
        self.naming = self.rng.choice(self.pool["tools"][agent])
        self.id = self.new_id()
        self.before, self.state = self.rng.choice(self.pool["states"])
        self.words = {
            key: self.rng.choice(self.pool[f"{key}s"])
            for key in ("person", "place", "thing", "topic", "service", "module", "function")
            if f"{key}s" in self.pool
        } | {"person": self.rng.choice(self.pool["people"])}
        self.thoughts = self.shuffled(self.pool["says"]["thoughts"])
        self.styles: dict[str, str] = {}
        self.sketch = self._sketch(seed, index)
        self.flags_errors = self.rng.random() < 0.6
        self.seconds = 0

    def _sketch(self, seed: int, index: int) -> Sketch:
        rng = self.rng
        provider = rng.choice(PROVIDERS)
        started = datetime(2026, 3, 2, 8, tzinfo=UTC) + timedelta(minutes=rng.randrange(90_000))
        return Sketch(
            run_id=f"run-{seed}-{index}",
            agent=f"{self.agent}-agent",
            system=self.fill(rng.choice(self.pool["systems"][self.agent])),
            ticket=self.fill(rng.choice(self.pool["tickets"][self.agent])),
            provider=provider,
            model=MODELS[provider],
            started_at=started,
            logs_inputs=rng.random() < 0.6,
            logs_tokens=rng.random() < 0.85,
            logs_times=rng.random() < 0.85,
            logs_labels=rng.random() < 0.9,
            offers_tools=rng.random() < 0.6,
            handoff=(self.naming["handoff"][0], self.naming["handoff"][1]),
            window=rng.choice((None, 128_000, 200_000)),
        )

    # words

    def shuffled(self, items: list[Any]) -> list[Any]:
        return self.rng.sample(items, len(items))

    def say(self, kind: str) -> str:
        return self.fill(self.rng.choice(self.pool["says"][kind]))

    def new_id(self) -> str:
        rng = self.rng
        number = rng.randrange(1000, 99999)
        letters = "".join(rng.choice("ABCDEFGHKLMNPRSTUVW") for _ in range(4))
        return rng.choice(
            (f"{number}", f"A-{number}", f"{letters}{number % 100:02d}", f"#W{number}")
        )

    def fill(self, text: str, **more: str) -> str:
        """Put this run's words into `{name}`s; other braces stay as they are."""
        words = {"id": self.id, "state": self.state, "before": self.before, **self.words, **more}
        words.setdefault("number", str(self.rng.randrange(100, 9999)))
        return re.sub(r"\{(\w+)\}", lambda m: words.get(m.group(1), m.group(0)), text)

    def thought(self) -> str:
        """What is said beside a call: often nothing, sometimes a short word that comes again."""
        dice = self.rng.random()
        if dice < 0.45 or not self.thoughts:
            return ""
        return self.say("acks") if dice < 0.55 else self.fill(self.thoughts.pop())

    def other_module(self) -> str:
        """A file that the run's own change does not touch."""
        own = self.words["module"]
        return str(self.rng.choice([m for m in self.pool["modules"] if m != own]))

    def moment(self) -> str:
        self.seconds += self.rng.randrange(3, 90)
        at = self.sketch.started_at + timedelta(seconds=self.seconds)
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")

    # tools

    def has(self, role: str) -> bool:
        return role in self.naming

    def tool(self, role: str) -> tuple[str, str]:
        """The name and the main argument of the tool for `role`; it is offered from now on."""
        name, arg = self.naming[role]
        if name not in self.sketch.tools:
            self.sketch.tools[name] = Tool(name, f"{role} tool", json.dumps(_schema(role, arg)))
        return name, arg

    def silent_tool(self, name: str, arg: str) -> str:
        schema = _object({arg: {"type": "string"}}, [arg] if arg else [])
        self.sketch.tools.setdefault(name, Tool(name, "", json.dumps(schema if arg else {})))
        return name

    def call(self, role: str, value: Any, result: str, **more: Any) -> CallSketch:
        """A call of the tool for `role` with its main argument; `more` are further arguments."""
        name, arg = self.tool(role)
        return CallSketch(
            name=name,
            args={arg: value, **more},
            result=result,
            role=role,
            is_error=False if self.flags_errors else None,
            duration_ms=self.rng.uniform(80, 2500),
        )

    def add(self, *calls: CallSketch, reply: str | None = None) -> StepSketch:
        step = StepSketch(
            reply=self.thought() if reply is None else reply,
            calls=list(calls),
            model_ms=self.rng.uniform(700, 4500),
        )
        self.sketch.steps.append(step)
        return step

    # results

    def person_record(self, number: str, name: str) -> dict[str, Any]:
        rng = self.rng
        return {
            "id": number,
            "name": name,
            "office": rng.choice(self.pool["places"]),
            "since": f"20{rng.randrange(10, 25)}-{rng.randrange(1, 13):02d}-11",
            "middle_name": None,
            "notes": rng.randrange(0, 6),
        }

    def device_record(self) -> dict[str, Any]:
        rng = self.rng
        return {
            "ref": self.new_id(),
            "kind": self.words["thing"],
            "version": f"{rng.randrange(1, 9)}.{rng.randrange(0, 30)}.{rng.randrange(0, 9)}",
            "errors": 0,
            "owner": self.words["person"],
        }

    def render(self, tool: str, fields: dict[str, Any]) -> str:
        """A record as this tool writes it: a tool keeps its style through the run."""
        style = self.styles.setdefault(tool, self.rng.choice(STYLES))
        if style == "prose":
            template = self.rng.choice(self.pool["results"]["foreign"])
            state = str(fields.get("state", fields.get("version", fields.get("since", ""))))
            ident = str(next(iter(fields.values())))
            person = str(fields.get("name", self.words["person"]))
            return self.fill(template, id=ident, state=state, person=person)
        return write(style, fields)

    def hits(self) -> str:
        """Search hits, two to four, in one of the ways that searches answer."""
        rng = self.rng
        facts = rng.sample(self.pool["results"]["facts"], rng.randrange(2, 5))
        rows = [
            {"id": f"D-{rng.randrange(100, 999)}", "score": round(rng.random(), 2), "text": fact}
            for fact in facts
        ]
        style = rng.choice(("json", "numbered", "html", "markdown"))
        if style == "json":
            return json.dumps({"hits": rows, "total": len(rows), "error": None}, ensure_ascii=False)
        if style == "numbered":
            return "\n".join(f"{i}. [{row['id']}] {row['text']}" for i, row in enumerate(rows, 1))
        if style == "html":
            return "<ul>" + "".join(f"<li>{row['text']}</li>" for row in rows) + "</ul>"
        return "\n\n".join(f"**{row['id']}**\n{row['text']}" for row in rows)

    def proof(self) -> str:
        """The answer of a mutating tool that names what it changed."""
        style = self.rng.choice(("text", "text", "json", "envelope"))
        if style == "text":
            return self.fill(self.rng.choice(self.pool["results"]["proof"]))
        changed = {"id": self.id, "state": self.state, "changed_at": self.moment()}
        if style == "json":
            return json.dumps({"updated": changed}, ensure_ascii=False)
        return json.dumps({"status": "success", "data": changed}, ensure_ascii=False)


def write(style: str, fields: dict[str, Any]) -> str:
    as_json = json.dumps(fields, ensure_ascii=False)
    items = [(key, "" if value is None else value) for key, value in fields.items()]
    if style == "envelope":
        return json.dumps({"status": "success", "error": "", "data": fields}, ensure_ascii=False)
    if style == "mcp":
        block = {"content": [{"type": "text", "text": as_json}], "isError": False}
        return json.dumps(block, ensure_ascii=False)
    if style == "lines":
        return ", ".join(f"{key}: {value}" for key, value in items if value != "")
    if style == "table":
        head = " | ".join(key for key, _ in items)
        return f"| {head} |\n|{'---|' * len(items)}\n| {' | '.join(str(v) for _, v in items)} |"
    if style == "csv":
        return ",".join(k for k, _ in items) + "\n" + ",".join(str(v) for _, v in items)
    if style == "html":
        rows = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in items)
        return f"<table>{rows}</table>"
    if style == "xml":
        return "<record>" + "".join(f"<{k}>{v}</{k}>" for k, v in items) + "</record>"
    if style == "yaml":
        return "\n".join(f"{key}: {value}" for key, value in items)
    return repr(fields) if style == "repr" else as_json


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _schema(role: str, arg: str) -> dict[str, Any]:
    """JSON Schema of the arguments of the tool for `role`, whose main argument is `arg`."""
    text, whole = {"type": "string"}, {"type": "integer", "minimum": 0}
    if role == "page":
        return _object({arg: text if arg in STRING_PAGES else whole, "size": whole}, [arg])
    properties: dict[str, Any] = {arg: {"type": "string", "minLength": 1}}
    if role in ("search", "doc"):
        properties |= {"limit": whole, "request_id": text}
    if role == "change":
        properties |= {"state": text, "reason": text}
    if role == "note":
        properties |= {"text": text, "channel": {"enum": ["mail", "portal", "phone"]}}
    if role in ("person", "device", "status", "poll", "test"):
        properties |= {"verbose": {"type": "boolean"}, "request_id": text}
    return _object(properties, [arg, "state"] if role == "change" else [arg])
