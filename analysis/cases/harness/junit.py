"""Results as JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr


def junit(results: Sequence[Mapping[str, Any]]) -> str:
    """JUnit XML: a suite for each case, a test for each expectation."""
    suites = [junit_suite(result) for result in results]
    failed = sum(result["state"] != "passed" for result in results)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return (
        f'{head}<testsuites name="agentdesk" failures="{failed}">\n{"".join(suites)}</testsuites>\n'
    )


def junit_suite(result: Mapping[str, Any]) -> str:
    name = xml_attribute(result["case"])
    if result["state"] == "error":
        why = xml_attribute(result["error"])
        return (
            f'<testsuite name={name} tests="1" failures="0" errors="1" skipped="0">\n'
            f'  <testcase classname={name} name="can be replayed">'
            f"<error message={why}/></testcase>\n"
            "</testsuite>\n"
        )
    troubled = [entry for entry in result["each"] if entry["trouble"]]
    tests = [("error", "runs to its end", f"run {e['run']}: {e['trouble']}") for e in troubled[:1]]
    if not tests:
        tests = [("passed", "runs to its end", "")]
    for entry in result["expectations"]:
        why = f"{entry['passed']} of {entry['runs']} runs"
        if entry["first"]:
            why += f"; run {entry['first']['run']}: {entry['first']['why']}"
        tests.append((entry["state"], f"{entry['id']}: {entry['text']}", why))
    marks = {"failed": "failure", "error": "error", "not_judged": "skipped"}
    seconds = sum(entry["seconds"] for entry in result["each"])
    states = [state for state, _, _ in tests]
    lines = [
        f'<testsuite name={name} tests="{len(tests)}" failures="{states.count("failed")}"'
        f' errors="{states.count("error")}" skipped="{states.count("not_judged")}"'
        f' time="{seconds:.3f}">\n  <properties>\n'
    ]
    properties = {**result["versions"], "runs": result["runs"], "passed": result["passed"],
                  "seed": result["seed"], "model": result["model"]}  # fmt: skip
    for key, value in properties.items():
        lines.append(f"    <property name={xml_attribute(key)} value={xml_attribute(value)}/>\n")
    lines.append("  </properties>\n")
    for state, test, why in tests:
        lines.append(f"  <testcase classname={name} name={xml_attribute(test)}>")
        if state in marks:
            mark = marks[state]
            lines.append(f"<{mark} message={xml_attribute(why)}>{xml_text(why)}</{mark}>")
        lines.append("</testcase>\n")
    lines.append("</testsuite>\n")
    return "".join(lines)


def xml_text(value: Any) -> str:
    """Escaped, without the characters that XML 1.0 cannot hold."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", str(value)))


def xml_attribute(value: Any) -> str:
    clean = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", str(value))
    return quoteattr(clean)
