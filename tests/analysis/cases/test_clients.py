"""Loops that are built on a client: the shapes of two libraries, awaited, streamed, or in text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.cases.harness import Replay, calls_made
from tests.analysis.cases.small import TICKET, a_case, here, says, shown, wants

CASE = (wants("look", "toner is low", floor=2), says("Ordered."))


def openai_loop(replay: Replay) -> str:
    client = replay.openai()
    messages: list[Any] = [{"role": "system", "content": "Own prompt."}]
    messages.append({"role": "user", "content": replay.ticket})
    while True:
        response = client.chat.completions.create(model="m", messages=messages, temperature=0)
        choice = response.choices[0]
        messages.append(choice.message)
        if choice.finish_reason != "tool_calls":
            return str(choice.message.content)
        for call in choice.message.tool_calls:
            result = replay.tools[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def anthropic_loop(replay: Replay) -> str:
    client = replay.anthropic()
    messages: list[Any] = [{"role": "user", "content": replay.ticket}]
    while True:
        response = client.messages.create(model="m", system="Own prompt.", messages=messages)
        messages.append({"role": "assistant", "content": response.content})
        if response.stop_reason != "tool_use":
            return str(response.content[0].text)
        results = [
            {
                "type": "tool_result",
                "tool_use_id": block.id,
                "content": [{"type": "text", "text": replay.call(block.name, block.input)}],
                "is_error": False,
            }
            for block in response.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


async def awaited_loop(replay: Replay) -> str:
    client = replay.openai()
    messages: list[Any] = list(replay.start())
    while True:
        response = await client.chat.completions.create(messages=messages)
        message = response.choices[0].message
        messages.append(message.model_dump())
        if not message.tool_calls:
            return str(message.content)
        for call in message.tool_calls:
            result = replay.call(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def streaming_loop(replay: Replay) -> str:
    client = replay.openai()
    messages: list[Any] = list(replay.start())
    while True:
        text, calls = "", []
        for chunk in client.chat.completions.create(messages=messages, stream=True):
            delta = chunk.choices[0].delta
            text += delta.content or ""
            calls += delta.tool_calls or []
        messages.append({"role": "assistant", "content": text, "tool_calls": calls or None})
        if not calls:
            return text
        for call in calls:
            result = replay.call(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def anthropic_stream_loop(replay: Replay) -> str:
    client = replay.anthropic()
    messages: list[Any] = list(replay.start()[1:])
    while True:
        with client.messages.stream(messages=messages, max_tokens=9) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        messages.append({"role": "assistant", "content": final.content})
        blocks = [block for block in final.content if block.type == "tool_use"]
        if not blocks:
            return text
        for block in blocks:
            result = replay.call(block.name, block.input)
            part = {"type": "tool_result", "tool_use_id": block.id, "content": result}
            messages.append({"role": "user", "content": [part]})


def text_loop(replay: Replay) -> str:
    """One growing prompt, as loops that parse the model's text have it."""
    prompt = replay.ticket
    while True:
        reply = replay.ask([{"role": "user", "content": prompt}])
        if not reply.calls:
            return reply.text
        for call in reply.calls:
            prompt += f"\n{call.name}\nObservation: {replay.call(call.name, call.args)}"


LOOPS = [
    openai_loop,
    anthropic_loop,
    awaited_loop,
    streaming_loop,
    anthropic_stream_loop,
    text_loop,
]


@pytest.mark.parametrize("loop", LOOPS)
def test_every_kind_of_loop_goes_the_recorded_way(loop: Any) -> None:
    trace = here(a_case(*CASE), loop)

    assert (trace.ending, trace.number, trace.final) == ("finished", 2, "Ordered."), trace.reason
    assert shown(trace, 1) == "toner is low"
    assert trace.divergence is None
    assert [call.key for call in calls_made(trace)] == ['look {"floor":2}']


@pytest.mark.parametrize("loop", LOOPS)
def test_the_ticket_is_found_in_every_kind_of_input(loop: Any) -> None:
    trace = here(a_case(*CASE, expect=[{"kind": "ticket_in_every_input"}]), loop)

    assert trace.holds == [[True], [True]]


def test_an_empty_result_is_seen_in_a_text_prompt_too() -> None:
    trace = here(a_case(wants("look", ""), says()), text_loop)

    assert shown(trace, 1) == ""


def test_labels_are_those_of_the_libraries() -> None:
    seen: list[str] = []

    def both(replay: Replay) -> None:
        openai, anthropic = replay.openai(), replay.anthropic()
        for _ in range(3):
            response = openai.chat.completions.create(messages=[TICKET])
            seen.append(response.choices[0].finish_reason)
            response = anthropic.messages.create(messages=[TICKET])
            seen.append(response.stop_reason)

    stops = [{"reply": "x", "stop": stop} for stop in ("finished", "cut_off", "blocked")]
    here(a_case(*(entry for stop in stops for entry in (stop, stop))), both)

    assert seen == ["stop", "end_turn", "length", "max_tokens", "content_filter", "refusal"]


def test_usage_is_as_recorded() -> None:
    def loop(replay: Replay) -> None:
        usage.append(replay.openai().chat.completions.create(messages=[TICKET]).usage)

    usage: list[Any] = []
    here(a_case({**says(), "tokens_in": 120, "tokens_out": 7}), loop)

    assert usage == [{"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127}]


def test_arguments_that_are_no_json_stay_as_the_model_wrote_them() -> None:
    broken = wants("look")
    broken["calls"][0]["args"] = '{"floor": 2'

    def loop(replay: Replay) -> None:
        seen.append(replay.openai().chat.completions.create(messages=[TICKET]))
        seen.append(replay.anthropic().messages.create(messages=[TICKET]))

    seen: list[Any] = []
    here(a_case(broken, broken), loop)

    assert seen[0].choices[0].message.tool_calls[0].function.arguments == '{"floor": 2'
    assert seen[1].content[-1].input == {"unparsed": '{"floor": 2'}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Bye.", id="text"),
        pytest.param(
            {"choices": [{"message": {"content": "Bye."}, "finish_reason": "stop"}]}, id="openai"
        ),
        pytest.param(
            {
                "type": "message",
                "content": [{"type": "text", "text": "Bye."}],
                "stop_reason": "end_turn",
            },
            id="anthropic",
        ),
    ],
)
def test_a_real_model_may_answer_in_any_of_these_shapes(answer: Any) -> None:
    async def model(messages: Any) -> Any:
        return answer

    trace = here(a_case(*CASE), openai_loop, from_round=1, model=model)

    assert (trace.final, trace.rounds[0]["stop"]) == ("Bye.", "finished")


def test_a_real_models_calls_are_read_from_both_shapes() -> None:
    function = {"name": "look", "arguments": '{"floor": 2}'}
    message = {"content": None, "tool_calls": [{"id": "c1", "function": function}]}
    block = {"type": "tool_use", "id": "c2", "name": "look", "input": {"floor": 2}}
    answers = [
        {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
        {"type": "message", "content": [block], "stop_reason": "tool_use"},
        "Done.",
    ]

    trace = here(a_case(*CASE), openai_loop, from_round=1, model=lambda _: answers.pop(0))

    assert [call["id"] for entry in trace.rounds for call in entry["calls"]] == ["c1", "c2"]
    assert trace.final == "Done."
