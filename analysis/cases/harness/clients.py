"""Clients in the shape of two libraries, answered by the script."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.cases.harness.replies import Reply

if TYPE_CHECKING:
    from analysis.cases.harness.asking import Replay


class Shaped(dict):  # type: ignore[type-arg]
    """A dict with attributes, like the objects of the client libraries; may be awaited."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return json.loads(json.dumps(self))  # type: ignore[no-any-return]

    to_dict = model_dump

    def model_dump_json(self, **_: Any) -> str:
        return json.dumps(self)

    def __await__(self) -> Generator[Any, None, Any]:
        return _awaited(self)


def _awaited(value: Any) -> Generator[Any, None, Any]:
    return value
    yield  # makes this a generator that is over at once


class Stream:
    """Chunks or events, to be iterated with `for` or `async for`, in a `with` or without."""

    def __init__(self, parts: list[Shaped], final: Shaped) -> None:
        self.parts = iter(parts)
        self.final = final

    def __iter__(self) -> Iterator[Shaped]:
        return self.parts

    async def __aiter__(self) -> Any:
        for part in self.parts:
            yield part

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    def __await__(self) -> Generator[Any, None, Any]:
        return _awaited(self)

    @property
    def text_stream(self) -> Iterator[str]:
        for part in self.parts:
            if part.type == "content_block_delta" and part.delta.type == "text_delta":
                yield part.delta.text

    def get_final_message(self) -> Shaped:
        return self.final


class OpenAIClient:
    """`.chat.completions.create(messages=…)` answered by the script, in that library's shape."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self.chat = self
        self.completions = self

    def create(self, *, messages: Sequence[Any], stream: bool = False, **request: Any) -> Any:
        reply = self._replay.ask(messages, **request)
        response = self._response(reply, str(request.get("model") or ""))
        return self._stream(response) if stream else response

    def _response(self, reply: Reply, model: str) -> Shaped:
        calls = [
            Shaped(id=c.id, type="function", function=Shaped(name=c.name, arguments=c.args_text))
            for c in reply.calls
        ]
        message = Shaped(
            role="assistant", content=reply.text or None, refusal=None, tool_calls=calls or None
        )
        labels = {"finished": "stop", "cut_off": "length", "blocked": "content_filter"}
        label = labels.get(reply.stop, "tool_calls" if calls else reply.stop_raw or "stop")
        read, written = reply.tokens_in or 0, reply.tokens_out or 0
        usage = Shaped(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)
        choice = Shaped(index=0, message=message, finish_reason=label, logprobs=None)
        return Shaped(
            id=f"replay-{self._replay.round}", object="chat.completion", created=0,
            model=reply.model or model, choices=[choice], usage=usage,
        )  # fmt: skip

    def _stream(self, response: Shaped) -> Stream:
        choice = response.choices[0]
        deltas = [Shaped(role="assistant", content=choice.message.content, tool_calls=None)]
        for at, call in enumerate(choice.message.tool_calls or []):
            deltas.append(Shaped(role=None, content=None, tool_calls=[Shaped(index=at, **call)]))
        deltas.append(Shaped(role=None, content=None, tool_calls=None))
        chunks = [
            Shaped(
                id=response.id, object="chat.completion.chunk", model=response.model, usage=None,
                choices=[Shaped(index=0, delta=delta, finish_reason=None)],
            )
            for delta in deltas
        ]  # fmt: skip
        chunks[-1].choices[0]["finish_reason"] = choice.finish_reason
        chunks[-1]["usage"] = response.usage
        return Stream(chunks, response)


class AnthropicClient:
    """`.messages.create(messages=…)` answered by the script, in that library's shape."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self.messages = self

    def create(
        self, *, messages: Sequence[Any], system: Any = None, stream: bool = False, **request: Any
    ) -> Any:
        reply = self._replay.ask(messages, system=system, **request)
        response = self._response(reply, str(request.get("model") or ""))
        return Stream(self._events(response), response) if stream else response

    def stream(self, **request: Any) -> Any:
        return self.create(stream=True, **request)

    def _response(self, reply: Reply, model: str) -> Shaped:
        blocks = [Shaped(type="text", text=reply.text)] if reply.text else []
        for call in reply.calls:
            args = call.args if isinstance(call.args, dict) else {"unparsed": call.args_text}
            blocks.append(Shaped(type="tool_use", id=call.id, name=call.name, input=args))
        labels = {"finished": "end_turn", "cut_off": "max_tokens", "blocked": "refusal"}
        label = labels.get(reply.stop, "tool_use" if reply.calls else reply.stop_raw or "end_turn")
        usage = Shaped(input_tokens=reply.tokens_in or 0, output_tokens=reply.tokens_out or 0)
        return Shaped(
            id=f"replay-{self._replay.round}", type="message", role="assistant", content=blocks,
            model=reply.model or model, stop_reason=label, stop_sequence=None, usage=usage,
        )  # fmt: skip

    def _events(self, response: Shaped) -> list[Shaped]:
        events = [Shaped(type="message_start", message=Shaped(response, content=[]))]
        for at, block in enumerate(response.content):
            if block.type == "text":
                empty = Shaped(type="text", text="")
                delta = Shaped(type="text_delta", text=block.text)
            else:
                empty = Shaped(block, input={})
                delta = Shaped(type="input_json_delta", partial_json=json.dumps(block.input))
            events.append(Shaped(type="content_block_start", index=at, content_block=empty))
            events.append(Shaped(type="content_block_delta", index=at, delta=delta))
            events.append(Shaped(type="content_block_stop", index=at, content_block=block))
        delta = Shaped(stop_reason=response.stop_reason, stop_sequence=None)
        events.append(Shaped(type="message_delta", delta=delta, usage=response.usage))
        events.append(Shaped(type="message_stop", message=response))
        return events
