"""OpenHands events: actions and the observations that they cause.

Source: All-Hands-AI/OpenHands evaluation outputs and resolver outputs. An event list stands alone
or in `history`. Several actions may come from one model response; its id in `tool_call_metadata`
says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Importer, Read, each_document
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import (
    args_text,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
)
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import read_tools
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Ending, RunLimits, Tool

_TITLE = "OpenHands events"
# Actions of the frame around the agent: nobody asked the model for them.
_FRAME = frozenset({"recall", "change_agent_state", "null", "condensation", "loop_recovery"})
_NOT_ARGS = frozenset(
    {"thought", "is_confirmed", "confirmation_state", "security_risk", "action_risk"}
)
_FLAT_FIELDS = frozenset(
    {"action", "thought", "keep_prompt", "is_confirmed", "action_risk", "id", "timestamp", "source"}
)


def recognise(value: Any) -> bool:
    """Whether this is a list of events, or an evaluation's output with one."""
    events = value.get("history") if isinstance(value, dict) else value
    if (
        isinstance(value, dict)
        and isinstance(value.get("trajectory"), list)
        and "history" not in value
    ):
        events = value["trajectory"]
    return (
        isinstance(events, list)
        and bool(events)
        and all(isinstance(e, dict) and ("action" in e or "observation" in e) for e in events)
        and not any("role" in e for e in events)
        and any("observation" in e and "action" not in e for e in events)
    )


def runs_of(value: Any, default_run_id: str) -> Iterator[Read]:
    body = value if isinstance(value, dict) else {"history": value}
    events = as_list(body.get("history") or body.get("trajectory"))
    reader = _Events()
    if as_text(body.get("instruction")) and not any(e.get("action") == "message" for e in events):
        reader.builder.add(Turn("user", as_text(body["instruction"])))
    for event in events:
        reader.take(event)
    metadata = as_dict(body.get("metadata"))
    error = as_text(body.get("error"))
    limit = metadata.get("max_iterations")
    ending = None
    if "maximum iteration" in error:
        ending = Ending.ROUND_LIMIT
    elif error:
        ending = Ending.ERROR
    elif events and events[-1].get("action") == "finish":
        ending = Ending.FINISHED
    config = as_dict(metadata.get("llm_config"))
    yield reader.builder.build(
        as_name(body.get("instance_id") or body.get("id")) or default_run_id,
        agent=as_name(metadata.get("agent_class")) or "openhands",
        code_version=reader.version,
        tools=tuple(reader.tools),
        limits=RunLimits(rounds=limit if isinstance(limit, int) and limit > 0 else None),
        ending=ending,
        ending_reason=error[:500],
        **({"model": as_name(config["model"])} if as_name(config.get("model")) else {}),
    )


class _Events:
    """Puts the rounds together: the observation names its action by `cause`, or follows it."""

    def __init__(self) -> None:
        self.builder = RunBuilder()
        self.tools: list[Tool] = []
        self.version = ""
        self._response = ""
        self._call_ids: dict[str, str] = {}
        self._used_ids: set[str] = set()
        self._last_id = ""

    def take(self, event: dict[str, Any]) -> None:
        if "observation" in event and "action" not in event:
            self._observe(event)
        elif event.get("action") == "system":
            args = as_dict(event.get("args"))
            self.version = as_name(args.get("openhands_version"))
            self.tools = read_tools(args.get("tools"))
            self.builder.add(Turn("system", as_text(args.get("content") or event.get("message"))))
        elif as_name(event.get("action")) in _FRAME:
            return
        elif event.get("action") == "message" and event.get("source", "user") != "agent":
            args = as_dict(event.get("args")) or event
            self.builder.add(Turn("user", as_text(args.get("content"))))
        else:
            self._act(event)

    def _act(self, event: dict[str, Any]) -> None:
        metadata = as_dict(event.get("tool_call_metadata"))
        response = as_dict(metadata.get("model_response"))
        args = (
            as_dict(event["args"])
            if isinstance(event.get("args"), dict)
            else {key: found for key, found in event.items() if key not in _FLAT_FIELDS}
        )
        call_id = as_name(metadata.get("tool_call_id"))
        reply = self._reply(event, response, args)
        action = as_text(event.get("action"))
        if action == "message":
            reply.text = as_text(args.get("content")) or reply.text
        else:
            call_id = call_id or action
            if call_id in self._used_ids:
                # Some models use one id for all their calls.
                call_id = f"{call_id}@{as_name(event.get('id')) or self.builder.last_number}"
            shown = {key: found for key, found in args.items() if key not in _NOT_ARGS}
            name = as_name(metadata.get("function_name")) or action
            call = CallDraft(name, _arguments(response, metadata) or args_text(shown), call_id)
            self._used_ids.add(call_id)
            self._call_ids[as_name(event.get("id"))] = self._last_id = call_id
            reply.calls.append(call)
        response_id = as_name(response.get("id"))
        if response_id and response_id == self._response:
            for call in reply.calls:
                self.builder.add_call(call)
            return
        self._response = response_id
        self.builder.add(Turn("assistant", reply=reply))

    def _reply(
        self, event: dict[str, Any], response: dict[str, Any], args: dict[str, Any]
    ) -> Reply:
        if openai_chat.knows_reply(response):
            reply = openai_chat.read_reply(response)
            reply.calls, reply.opaque = [], []
        else:
            reply = Reply(text=as_text(args.get("thought")))
        reply.started_at = as_moment(event.get("timestamp"))
        return reply

    def _observe(self, event: dict[str, Any]) -> None:
        kind = as_text(event.get("observation"))
        content = as_text(event.get("content"))
        if kind in _FRAME or kind == "agent_state_changed":
            if content and kind == "recall":
                self.builder.add(Turn("user", content, name="environment"))
            return
        extras = as_dict(event.get("extras"))
        code = as_dict(extras.get("metadata")).get(
            "exit_code", extras.get("exit_code", event.get("exit_code"))
        )
        flag: bool | None = None
        if kind == "error":
            flag = True
        elif isinstance(code, int):
            flag = code != 0
        call_id = self._call_ids.get(as_name(event.get("cause")), self._last_id)
        self.builder.add(Turn("tool", answers=[Answer(content, call_id, is_error=flag)]))


def _arguments(response: dict[str, Any], metadata: dict[str, Any]) -> str:
    """The arguments as the model wrote them, where its response is kept."""
    choice = as_dict(next(iter(as_list(response.get("choices"))), None))
    for call in map(as_dict, as_list(as_dict(choice.get("message")).get("tool_calls"))):
        function = as_dict(call.get("function"))
        if call.get("id") == metadata.get("tool_call_id") and isinstance(
            function.get("arguments"), str
        ):
            return args_text(function["arguments"])
    return ""


IMPORTER = Importer(
    name="openhands",
    title=_TITLE,
    recognise=recognise,
    read=each_document(recognise, runs_of, _TITLE),
    priority=74,
)
