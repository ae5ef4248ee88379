"""Writes runs as Inspect logs: `python inspect_log.py FOLDER ANSWER ROUNDS…`, in Inspect's own
environment. One log a length, of one sample whose rounds are those of `bench.pages`.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(folder: Path, answer: int, lengths: list[int]) -> None:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    words = "Contoso Ltd, open since March, reminded twice. "
    for rounds in lengths:
        messages = [ChatMessageUser(content="Please list all invoices of Contoso.")]
        for number in range(1, rounds):
            name = ("list_invoices", "get_invoice", "get_contract")[number % 3]
            asked = ToolCall(id=f"c{number}", function=name, arguments={"id": number})
            messages += [
                ChatMessageAssistant(
                    content=f"Now I look at record number {number}.", tool_calls=[asked]
                ),
                ChatMessageTool(
                    content=f"record {number}: " + words * (answer // len(words)),
                    tool_call_id=asked.id,
                    function=name,
                ),
            ]
        messages.append(ChatMessageAssistant(content="Done."))
        sample = EvalSample(id="1", epoch=1, input="Contoso", target="", messages=messages)
        spec = EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task=f"run-{rounds}",
            model="none/none",
            dataset=EvalDataset(samples=1),
            config=EvalConfig(),
        )
        log = EvalLog(status="success", eval=spec, samples=[sample])
        write_eval_log(log, str(folder / f"run-{rounds}.eval"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), [int(each) for each in sys.argv[3:]])
