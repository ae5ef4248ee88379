"""Cases in plain words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.case_editing.expectations import KINDS
from analysis.case_editing.mocks import ANSWERS, SAYS_TEXT
from analysis.cases.harness import told
from analysis.cases.harness.counting import compare
from analysis.words import detector_title

SHORT = 160
# Below it, how small a probability is says no more.
SMALLEST = 0.001
ANSWER_WORDS = dict(ANSWERS)


def expectation_words(entry: Mapping[str, Any], *, may_read: bool) -> str:
    """What must hold. Who may not read transcripts is told of what kind it is."""
    if may_read:
        titles = [detector_title(name) for name in entry.get("detectors", ())]
        return f"these detectors find nothing: {', '.join(titles)}" if titles else told(entry)
    row = KINDS.get(entry["kind"])
    return row.title if row else str(entry["kind"])


def mock_words(mock: Mapping[str, Any]) -> str:
    """A tool mock: `reset_vpn_profile fails with "403 …", raised as PermissionError`."""
    words = f"{mock['tool']} {ANSWER_WORDS[mock['answer']].replace(' this text', '')}"
    if mock["answer"] in SAYS_TEXT:
        words += f" “{brief(mock.get('text', ''))}”"
    if mock.get("raises"):
        words += f", raised as {mock['raises']}"
    if mock.get("as") == "result":
        words += ", as a result with the error flag"
    if mock.get("seconds"):
        words += f", after {mock['seconds']:g} s"
    if "args" in mock:
        words += f", where the arguments hold {json.dumps(mock['args'], ensure_ascii=False)}"
    if mock.get("calls"):
        words += f", in its calls number {', '.join(map(str, mock['calls']))}"
    return words


def branch_words(branch: Mapping[str, Any]) -> tuple[str, list[str]]:
    """When a branch applies, and what is replied then, one text a reply."""
    when = branch["when"]
    parts = []
    if "result_of" in when:
        parts.append(f"the result of {when['result_of']} is shown")
    if "round" in when:
        parts.append(f"it is round {when['round']}")
    for name, words in (("contains", "what is new contains"), ("matches", "what is new matches")):
        if name in when:
            parts.append(f"{words} “{brief(when[name])}”")
    for name, words in (("empty", "empty"), ("error", "an error")):
        if name in when:
            parts.append(f"it is {'' if when[name] else 'not '}{words}")
    replies = [reply_words(reply) for reply in branch["replies"]]
    if branch.get("then") == "resume":
        replies.append("then it goes on as recorded")
    return "When " + " and ".join(parts), replies


def reply_words(reply: Mapping[str, Any]) -> str:
    parts = [f"“{brief(reply['text'])}”"] if reply.get("text") else []
    for call in reply.get("calls", ()):
        args = json.dumps(call["args"], ensure_ascii=False) if "args" in call else ""
        parts.append(f"calls {call['name']} {brief(args)}".strip())
    if reply.get("error"):
        parts.append(f"fails: {brief(reply['error'])}")
    if reply.get("stop"):
        parts.append(f"and is {reply['stop'].replace('_', ' ')}")
    return ", ".join(parts)


def brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]}… ({len(line):,} characters)"


def comparison_words(before: Mapping[str, int], now: Mapping[str, int]) -> tuple[str, str]:
    """Two counts of "passed" of "runs", by Fisher's exact test: (sentence, tone).

    "92% → 85% over 100 runs: may be chance (p = 0.18)".
    """
    found = compare(before, now)
    if found["p"] is None:
        return "no runs to compare", "quiet"
    rates = [each["passed"] / each["runs"] for each in (before, now)]
    change = f"{rates[0]:.0%} → {rates[1]:.0%} over {now['runs']:,} run{'s'[: now['runs'] != 1]}"
    p = f"p = {found['p']:.2g}" if found["p"] >= SMALLEST else f"p < {SMALLEST}"
    if found["word"] == "the same":
        return f"{rates[1]:.0%}, as the accepted version", "quiet"
    if found["word"] == "no clear change":
        return f"{change}: may be chance ({p})", "warn" if rates[1] < rates[0] else "quiet"
    return f"{change}: {found['word']} ({p})", "bad" if found["word"] == "worse" else "good"


def kinds_offered() -> Iterator[tuple[str, str]]:
    """(kind, title) of all that may be expected."""
    for name, row in KINDS.items():
        yield name, row.title
