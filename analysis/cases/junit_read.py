"""JUnit XML read as a result of one case: the harness's own, or what pytest wrote of an export.

The harness names a suite after the case, and a test after each expectation. In the exported folder
pytest names tests `test_holds[CASE-7.case.json-ending]`. XML is read without entities or DTD.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from analysis.cases.export_pytest import file_name
from analysis.cases.harness import CaseError
from analysis.cases.harness.reading import RESULT_SCHEMA

LARGEST = 8 * 2**20
TESTS = 2_000  # of one case; the format allows 100 expectations
TO_ITS_END = "runs to its end"
OF_PYTEST = re.compile(r"\[(?P<file>[^\]\[]+?)\.case\.json(?:-(?P<id>[^\]\[]+))?\]$")
BAD = ("failure", "error")
VERSIONS = ("prompt", "model", "code")


def read_junit(
    content: bytes, names: Collection[str], versions: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A result (`agentdesk.case-result/1`, without `each`) of the case that is called one of
    `names`. What `versions` says goes before what the file says. Raises `CaseError` that says why.
    """
    root = parsed(content)
    suite, tests = tests_of(root, names)
    if not tests:
        raise CaseError(
            f"no test of {min(names)} in it: neither a suite of that name, nor tests of"
            f" {file_name(min(names))}.case.json"
        )
    if len(tests) > TESTS:
        raise CaseError(f"more than {TESTS:,} tests of one case")
    said = properties(suite) if suite is not None else {}
    expectations = [expectation(ident, text, test) for ident, text, test in tests]
    failed = any(each["state"] == "failed" for each in expectations)
    runs = count(said, "runs", 1)
    passed = min(runs, count(said, "passed", 0 if failed else runs))
    given = {name: said.get(name, "") for name in VERSIONS} | dict(versions or {})
    return {
        "schema": RESULT_SCHEMA,
        "case": min(names),
        "versions": {name: value[:200] for name, value in given.items() if value},
        "seed": count(said, "seed", None),
        "state": "failed" if failed else "passed",
        "runs": max(runs, 1),
        "passed": passed,
        "expectations": [each for each in expectations if each["id"] != TO_ITS_END],
        "divergence": None,
        "troubles": [
            {"run": 1, "why": each["first"]["why"]}
            for each in expectations
            if each["id"] == TO_ITS_END and each["state"] == "failed"
        ],
    }


def parsed(content: bytes) -> Element:
    """The document's root. Raises `CaseError` for what is no plain XML."""
    if len(content) > LARGEST:
        raise CaseError(f"larger than {LARGEST // 2**20} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8 at byte {error.start}") from None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise CaseError("XML with a DTD is not read")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise CaseError(f"not XML: {error}") from None


def tests_of(
    root: Element, names: Collection[str]
) -> tuple[Element | None, list[tuple[str, str, Element]]]:
    """The case's suite where it has one of its own, and its tests as (id, words, element)."""
    for suite in root.iter("testsuite"):
        if suite.get("name") in names:
            return suite, [(*parted(test.get("name", "")), test) for test in suite.iter("testcase")]
    files = {file_name(name) for name in names}
    tests = []
    for test in root.iter("testcase"):
        found = OF_PYTEST.search(test.get("name", ""))
        if found and found["file"] in files:
            tests.append((found["id"] or TO_ITS_END, "", test))
    return None, tests


def parted(name: str) -> tuple[str, str]:
    """The name of the harness's test, `id: words`, in its two parts."""
    ident, _, words = name.partition(": ")
    return ident[:200], words


def expectation(ident: str, text: str, test: Element) -> dict[str, Any]:
    """One expectation as a result says it; a test says nothing of how many runs there were."""
    bad = next((child for child in test if child.tag in BAD), None)
    skipped = test.find("skipped")
    mark = bad if bad is not None else skipped
    state = "failed" if bad is not None else "passed" if skipped is None else "not_judged"
    why = "" if mark is None else (mark.get("message") or mark.text or "").strip()
    runs = 0 if state == "not_judged" else 1
    return {
        "id": ident,
        "kind": "",
        "text": text,
        "state": state,
        "runs": runs,
        "passed": 1 if state == "passed" else 0,
        "not_judged": 1 - runs,
        "first": {"run": 1, "why": why} if why else None,
    }


def properties(suite: Element) -> dict[str, str]:
    found: Iterator[Element] = suite.iter("property")
    return {each.get("name", ""): each.get("value", "") for each in found}


def count(said: Mapping[str, str], name: str, otherwise: Any) -> Any:
    """A whole number of the properties, `otherwise` where it says none."""
    value = said.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else otherwise
