from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import and_again, episodes, places, until
from analysis.detectors.reading.failure_words import NO_SUCH_TOOL
from analysis.detectors.reading.patterns import encodable
from analysis.detectors.reading.words import count, excerpt, quoted

# Characters. A longer answer is a document, whatever it says of tools.
SHORT = 400


@detector(version=2, severity=Severity.FAULT, odd=True, rank=5)
def unknown_tool(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Unknown tool.

    The model asked for a tool that was not offered to it.

    Why it matters: nothing was done, and the model may have meant another tool.
    Stays silent: where the run does not say which tools were offered and the answer does not say
    that there is no such tool.
    Yields: one finding for each call, at the first.
    Likely cause: the tool was renamed or removed while the instructions still speak of it, or a
    model made a name up.
    Fix in code: name the tools in the error ("no tool get_user; there are find_user,
    list_users"), and keep instructions and tool list together.
    Source: Model Context Protocol, error codes -32601 and -32602.
    """
    offered = {tool.name for tool in reading.run.tools}

    def kind(call: CallReading) -> str | None:
        not_offered = offered and not {call.name, call.name.rsplit(".", 1)[-1]} & offered
        if not_offered and call.came_to_nothing:
            # What works is known to the agent, whatever the list says.
            return "not offered"
        said = f"{call.error or ''} {(call.call.result or '')[:SHORT]}"
        if (
            len(call.call.result or "") <= SHORT
            and NO_SUCH_TOOL.search(encodable(said)) is not None
        ):
            return "no such tool" if call.failed or not call.nature.document else None
        return None

    for calls in episodes(reading.calls, kind):
        first = calls[0]
        shown = excerpt(first.name, 60)
        tools = count(len(offered), "tool")
        if kind(first) == "not offered":
            why = f"The model asked for {shown}, which is not among the {tools} offered to it"
        else:
            said = quoted(first.error or first.call.result or "")
            why = f"The model asked for {shown}, and the answer says that there is none: {said}"
        yield Draft(
            at=first.place,
            why=f"{why}{and_again(calls)}.",
            brief=f"there is no tool {shown}",
            tool=first.name,
            to_round=until(calls),
            evidence=places(calls),
            values={"error": "unknown tool", "offered": len(offered), "times": len(calls)},
        )
