"""ToolBench answers: a search tree, and the chains of messages that led to each leaf.

Source: OpenBMB/ToolBench answer files and toolbench/inference. The chain that gave the answer is
the run: the last of `train_messages`, else the last path of the tree. Calls are of the old
`function_call` form, results of role function; the tree has a code for each result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Importer, Read, each_document
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import args_text, as_dict, as_list, as_name, as_text
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import read_tools
from transcripts.importers.turns import CallDraft, Reply, Turn
from transcripts.record import Ending

_TITLE = "ToolBench answers"
# Codes of results that are no failure: fine, final answer, given up.
_FINE = frozenset({0, 3, 4})


def recognise(value: Any) -> bool:
    """Whether this is an answer with a chain of messages or a tree of nodes."""
    answer = as_dict(as_dict(value).get("answer_generation"))
    chains = answer.get("train_messages")
    if isinstance(chains, list) and chains:
        return all(isinstance(c, list) and openai_chat.knows_messages(c) for c in chains)
    return "finish_type" in answer and bool(_root(as_dict(value)).get("children"))


def runs_of(value: dict[str, Any], default_run_id: str) -> Iterator[Read]:
    answer = value["answer_generation"]
    builder = RunBuilder()
    chains = as_list(answer.get("train_messages"))
    if chains:
        for message in chains[-1]:
            builder.add(openai_chat.read_message(message))
    else:
        builder.add(Turn("user", as_text(answer.get("query"))))
        _read_path(builder, _root(value))
        builder.note("No chain gave an answer: this is the last path of the search.")
    if len(chains) > 1:
        builder.note(f"Shorter chains of the same search, not shown: {len(chains) - 1}.")
    labels = {
        key: as_text(found)
        for key in ("query_count", "total_tokens", "finish_type")
        if (found := answer.get(key)) is not None
    }
    if "win" in value:
        labels["win"] = as_text(value["win"])
    finish = as_name(answer.get("finish_type"))
    yield builder.build(
        as_name(value.get("run_id")) or default_run_id,
        title=as_text(answer.get("query"))[:300],
        tools=tuple(read_tools(as_list(answer.get("function")))),
        labels=labels,
        ending=Ending.FINISHED if finish == "give_answer" else Ending.STOPPED,
        ending_reason=finish,
    )


def _root(value: dict[str, Any]) -> dict[str, Any]:
    return as_dict(as_dict(value.get("tree")).get("tree"))


def _read_path(builder: RunBuilder, node: dict[str, Any]) -> None:
    """The rounds along the last child of each node: a thought, an action, and its input with the
    result.
    """
    reply = Reply()
    while children := as_list(node.get("children")):
        node = as_dict(children[-1])
        description = as_text(node.get("description"))
        kind = node.get("node_type")
        if kind == "Thought":
            reply.text = description
        elif kind == "Action":
            reply.calls = [CallDraft(description)]
        elif kind == "Action Input" and reply.calls:
            call = reply.calls[0]
            call.args = args_text(description)
            call.result = as_text(node.get("observation"))
            code = node.get("observation_code")
            call.is_error = code not in _FINE if isinstance(code, int) else None
            builder.add(Turn("assistant", reply=reply))
            reply = Reply()
    if reply.text:
        builder.add(Turn("assistant", reply=reply))


IMPORTER = Importer(
    name="toolbench",
    title=_TITLE,
    recognise=recognise,
    read=each_document(recognise, runs_of, _TITLE),
    priority=72,
)
