"""What the loop shows the model: read, compared with the input before it, told once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from analysis.cases.harness.messages import Shown, result_entry, shown_message, text_of
from analysis.cases.harness.reading import cut, folded
from analysis.cases.harness.replies import Reply


class Inputs:
    """Reads the inputs of a run, one after the other; `needles` are texts that it looks for."""

    def __init__(self, needles: Sequence[str]) -> None:
        self._needles = [folded(text) for text in needles]
        self._known: list[tuple[dict[str, Any] | None, Shown]] = []
        self._system: Shown | None = None
        self._texts: dict[tuple[str, str], int] = {}  # role and text, in order of first sight
        self._holds: list[list[bool]] = []  # by message's number, by needle
        self._shown: list[Shown] = []
        self._numbers: list[int] = []

    def read(self, messages: Any, system: Any) -> list[Shown]:
        """The input as messages; one that stands where it stood before is not read again."""
        read = []
        if system:
            text = text_of(system)
            if self._system is None or self._system.text != text:
                self._system = Shown("system", text)
            read.append(self._system)
        listed = [messages] if isinstance(messages, str) else messages
        for at, message in enumerate(listed):
            before, shown = self._known[at] if at < len(self._known) else (None, None)
            if shown is None or before is None or before != message:
                shown = shown_message(message)
                # Content in parts may be changed in place, which a shallow copy would not show
                plain = isinstance(message, dict) and isinstance(message.get("content"), str)
                self._known[at : at + 1] = [(dict(message) if plain else None, shown)]
            read.append(shown)
        del self._known[len(listed) :]
        return read

    def event(self, number: int, shown: list[Shown], results: list[Any]) -> dict[str, Any]:
        """What is told of the input of round `number`: the new texts, and the change."""
        same = 0
        for message, before in zip(shown, self._shown):  # noqa: B905
            if message is not before:
                break
            same += 1
        told = len(self._texts)
        numbers = self._numbers[:same] + [self._number(message) for message in shown[same:]]
        kept = same
        while kept < min(len(numbers), len(self._numbers)) and numbers[kept] == self._numbers[kept]:
            kept += 1
        self._shown, self._numbers = shown, numbers
        return {
            "e": "ask",
            "round": number,
            "results": [{**result, "text": cut(result["text"])} for result in results],
            "holds": [any(self._holds[n][at] for n in numbers) for at in range(len(self._needles))],
            "messages": [[role, cut(text)] for role, text in islice(self._texts, told, None)],
            "kept": kept,
            "added": numbers[kept:],
        }

    def _number(self, message: Shown) -> int:
        """The number of a message's text: equal texts have one; a new text is searched once."""
        parts = [message.text, *(result["text"] for result in message.results)]
        whole = (message.role, "\n".join(filter(None, parts)))
        if whole not in self._texts:
            self._texts[whole] = len(self._texts)
            text = folded(message.text) if self._needles else ""
            self._holds.append([needle in text for needle in self._needles])
        return self._texts[whole]


def shown_results(
    shown: list[Shown], reply: Reply | None, made: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], str]:
    """The results that answer `reply`'s calls, and the text that came after it.

    Results are found by the calls' ids, else by order. For a loop that writes results into a
    prompt, the tools' own answers stand in where the prompt holds them, else the whole new text.
    """
    after = next(
        (at for at in range(len(shown), 0, -1) if shown[at - 1].role in ("assistant", "model")), 0
    )
    tail = shown[after:]
    new_text = "\n".join(filter(None, (message.text for message in tail)))
    if reply is None:
        return [], new_text
    open_calls = {call.id: call.name for call in reply.calls}
    results = []
    unplaced = []
    for result in (result for message in tail for result in message.results):
        if result["id"] in open_calls:
            results.append({**result, "name": open_calls.pop(result["id"])})
        else:
            unplaced.append(result)
    if not results and open_calls:
        for result in unplaced[-len(open_calls) :]:
            id_ = next(iter(open_calls))
            results.append({**result, "id": id_, "name": open_calls.pop(id_)})
    if not results:
        results = [told_in_text(call, new_text) for call in made]
    return results, new_text


def told_in_text(call: dict[str, Any], new_text: str) -> dict[str, Any]:
    own = call["result"]
    text = own if not call["raises"] and own in new_text else new_text
    return result_entry(call["id"], text, False, call["name"])
