"""Codex rollouts: `$CODEX_HOME/sessions/…/rollout-*.jsonl`, Responses items with events between
them.

Source: rollouts of codex-cli 0.144.1; not a documented contract. Events repeat the visible
messages, so that messages are taken from the items alone; token counts come as events, and the
last of a reply holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, Read
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import as_count, as_dict, as_moment, as_name, as_text
from transcripts.importers.providers import openai_responses
from transcripts.importers.turns import Reply, Turn

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})


def recognise(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and as_name(value.get("type")) in _TYPES
        and isinstance(value.get("payload"), dict)
    )


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    yield _Rollout(default_run_id).run(d.value for d in documents if recognise(d.value))


class _Rollout:
    def __init__(self, default_run_id: str) -> None:
        self.builder = RunBuilder()
        self.run_id = default_run_id
        self.model = ""
        self.written: list[Any] = []
        self.written_at: Any = None
        self.fields: dict[str, Any] = {}
        self.labels: dict[str, str] = {}

    def run(self, lines: Iterator[dict[str, Any]]) -> Read:
        for line in lines:
            self._take(line["type"], line["payload"], line.get("timestamp"))
        self._finish_reply()
        return self.builder.build(
            self.run_id,
            agent="codex",
            provider=openai_responses.NAME,
            labels=self.labels,
            **self.fields,
        )

    def _take(self, kind: str, payload: dict[str, Any], timestamp: Any) -> None:
        if kind == "session_meta":
            self.run_id = as_name(payload.get("id")) or self.run_id
            self.fields["code_version"] = as_name(payload.get("cli_version"))
            if started := as_moment(payload.get("timestamp")):
                self.fields["started_at"] = started
            for key in ("cwd", "originator", "source"):
                if isinstance(payload.get(key), str):
                    self.labels[key] = payload[key]
            if instructions := as_text(payload.get("instructions")):
                self.builder.add(Turn("system", instructions))
        elif kind == "turn_context":
            self.model = as_name(payload.get("model")) or self.model
        elif kind == "compacted":
            self._finish_reply()
            self.builder.forget()
            self.builder.add(Turn("user", as_text(payload.get("message"))))
        elif kind == "response_item":
            self._take_item(payload, timestamp)
        elif payload.get("type") == "token_count":
            self._count(as_dict(payload.get("info")))

    def _take_item(self, item: dict[str, Any], timestamp: Any) -> None:
        if openai_responses.is_written(item):
            self.written_at = self.written_at or timestamp
            self.written.append(item)
            return
        self._finish_reply()
        for turn in openai_responses.read_messages([item]):
            self.builder.add(turn)

    def _finish_reply(self) -> None:
        if not self.written:
            return
        reply = openai_responses.read_output(self.written)
        reply.model = self.model
        reply.started_at = as_moment(self.written_at)
        self.written, self.written_at = [], None
        self.builder.add(Turn("assistant", reply=reply))

    def _count(self, info: dict[str, Any]) -> None:
        """The count comes after the reply it belongs to, and may come again."""
        self._finish_reply()
        usage = as_dict(info.get("last_token_usage"))
        reply: Reply | None = self.builder.last_reply
        if reply is not None and usage:
            reply.tokens_in = as_count(usage.get("input_tokens"))
            reply.tokens_out = as_count(usage.get("output_tokens"))
            reply.tokens_cached = as_count(usage.get("cached_input_tokens"))
            reply.tokens_reasoning = as_count(usage.get("reasoning_output_tokens"))
        if window := as_count(info.get("model_context_window")):
            self.fields["context_window"] = window


IMPORTER = Importer(
    name="codex", title="Codex rollouts", recognise=recognise, read=read, priority=70
)
