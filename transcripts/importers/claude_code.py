"""Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl`, and the files of
sub-agents.

Source: claude-agent-sdk 0.2.189 claude_agent_sdk/_internal/sessions.py, and recorded sessions. One
reply is written as several lines that share `message.id`; the file forks at parallel calls and
where a person went back. A compaction starts the model's input anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, Read
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import as_dict, as_list, as_moment, as_name, as_number, as_text
from transcripts.importers.providers import anthropic
from transcripts.importers.turns import Reply, Turn

_SPEAKERS = ("user", "assistant")
# Lines of a session that are no messages; a file may begin with them.
_OTHER_LINES = {"file-history-snapshot": "snapshot", "summary": "leafUuid"}


def recognise(value: Any) -> bool:
    """Whether a document is a line of a session."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    mark = _OTHER_LINES.get(value["type"])
    return "sessionId" in value or (mark is not None and mark in value)


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """The session, and a run for each sub-agent whose lines stand in the same file."""
    lines = [d.value for d in documents if isinstance(d.value, dict)]
    spoken = [line for line in lines if _speaks(line)]
    main = [line for line in spoken if not line.get("isSidechain")]
    session = next((name for v in lines if (name := as_name(v.get("sessionId")))), default_run_id)
    by_agent: dict[str, list[dict[str, Any]]] = {}
    for line in spoken:
        if line.get("isSidechain"):
            by_agent.setdefault(as_name(line.get("agentId")) or "sidechain", []).append(line)
    if main or not by_agent:
        yield _run(lines, main, session, parent="")
    for agent, agent_lines in by_agent.items():
        yield _run(agent_lines, agent_lines, f"{session}/{agent}", parent=session)


def _run(
    lines: list[dict[str, Any]], spoken: list[dict[str, Any]], run_id: str, parent: str
) -> Read:
    builder = RunBuilder()
    kept = _branch(lines, spoken)
    if len(kept) < len(spoken):
        builder.note(f"Messages of branches that were left, not shown: {len(spoken) - len(kept)}.")
    add_lines(builder, lines, kept, run_id.partition("/")[0])
    _note_others(builder, lines)
    first = next(iter(spoken), {})
    moments = [moment for line in spoken if (moment := as_moment(line.get("timestamp")))]
    titles = [as_text(line.get("summary")) for line in lines if line.get("type") == "summary"]
    return builder.build(
        run_id,
        agent="claude-code" if not parent else run_id.rpartition("/")[2],
        title=titles[-1][:300] if titles else "",
        provider=anthropic.NAME,
        code_version=as_name(first.get("version")),
        parent_run_id=parent,
        started_at=min(moments, default=None),
        ended_at=max(moments, default=None),
        labels={
            key: as_text(first[key]) for key in ("cwd", "gitBranch", "entrypoint") if first.get(key)
        },
    )


def add_lines(
    builder: RunBuilder,
    lines: list[dict[str, Any]],
    kept: list[dict[str, Any]],
    session: str,
) -> None:
    """Add the kept messages in the file's order; lines of one reply are put together first."""
    parts_of: dict[str, list[dict[str, Any]]] = {}
    for line in kept:
        message = as_dict(line["message"])
        if line["type"] == "assistant" and (name := as_name(message.get("id"))):
            parts_of.setdefault(name, []).append(message)
    kept_ids = {id(line) for line in kept}
    for line in lines:
        if line.get("subtype") == "compact_boundary":
            builder.forget()
        if id(line) not in kept_ids:
            continue
        message = as_dict(line["message"])
        if line["type"] == "assistant":
            parts = parts_of.get(as_name(message.get("id")), [message])
            if parts[0] is not message:
                continue
            builder.add(Turn("assistant", reply=_reply(parts, line)))
            continue
        turn = anthropic.read_message({"role": "user", "content": message.get("content")})
        for answer in turn.answers:
            _add_outcome(answer, line.get("toolUseResult", line.get("tool_use_result")), session)
        builder.add(turn)


def _reply(parts: list[dict[str, Any]], line: dict[str, Any]) -> Reply:
    """One reply of its lines; usage is repeated in each of them, so that the last one's holds."""
    blocks: list[Any] = []
    for part in parts:
        content = part.get("content")
        blocks += (
            content if isinstance(content, list) else [{"type": "text", "text": as_text(content)}]
        )
    labels = [part.get("stop_reason") for part in parts if part.get("stop_reason")]
    reply = anthropic.read_reply(
        {
            "content": blocks,
            "model": parts[-1].get("model"),
            "stop_reason": labels[-1] if labels else None,
            "usage": parts[-1].get("usage"),
        }
    )
    reply.started_at = as_moment(line.get("timestamp"))
    if line.get("isApiErrorMessage") or line.get("error"):
        reply.error = as_text(line.get("error")) or reply.text
    if reply.model == "<synthetic>":
        reply.model = ""
    return reply


def _add_outcome(answer: Any, outcome: Any, session: str) -> None:
    details = as_dict(outcome)
    answer.duration_ms = as_number(details.get("durationMs", details.get("totalDurationMs")))
    if agent := as_name(details.get("agentId")):
        answer.sub_run = f"{session}/{agent}"


def _branch(lines: list[dict[str, Any]], spoken: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of the branch that the session ended on, in the file's order.

    A file forks at parallel calls too: replies and results of a kept reply are kept.
    """
    by_uuid = {line["uuid"]: line for line in lines if isinstance(line.get("uuid"), str)}
    chain: set[str] = set()
    leaves = [line for line in spoken if not line.get("isMeta")]
    at = as_name(leaves[-1].get("uuid")) if leaves else ""
    while at and at in by_uuid and at not in chain:
        chain.add(at)
        line = by_uuid[at]
        at = as_name(line.get("parentUuid") or line.get("logicalParentUuid"))
    replies = {
        as_name(as_dict(line["message"]).get("id"))
        for line in spoken
        if line["type"] == "assistant" and as_name(line.get("uuid")) in chain
    } - {""}
    kept: list[dict[str, Any]] = []
    calls: set[str] = set()
    for line in spoken:
        message = as_dict(line["message"])
        of_reply = line["type"] == "assistant" and as_name(message.get("id")) in replies
        blocks = [as_dict(block) for block in as_list(message.get("content"))]
        if of_reply:
            calls |= {
                as_name(block.get("id")) for block in blocks if block.get("type") == "tool_use"
            }
        answers = any(as_name(block.get("tool_use_id")) in calls - {""} for block in blocks)
        if as_name(line.get("uuid")) in chain or of_reply or answers:
            kept.append(line)
    return kept


def _note_others(builder: RunBuilder, lines: list[dict[str, Any]]) -> None:
    counts: dict[str, int] = {}
    for line in lines:
        if not _speaks(line):
            kind = as_text(line.get("type")) or "without type"
            counts[kind] = counts.get(kind, 0) + 1
    if counts:
        said = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
        builder.note(f"Lines that are no messages: {said}.")


def _speaks(line: dict[str, Any]) -> bool:
    return (
        as_name(line.get("type")) in _SPEAKERS
        and isinstance(line.get("message"), dict)
        and isinstance(line.get("uuid"), str)
    )


IMPORTER = Importer(
    name="claude_code",
    title="Claude Code sessions",
    recognise=recognise,
    read=read,
    priority=70,
)
