from __future__ import annotations

import json
import re
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors.limits import (
    Baseline,
    Limits,
    LimitsError,
    RepeatMode,
    limits_from,
    load_limits,
    named,
)


def test_reads_json(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    file.write_text(json.dumps({"rounds": 20, "cost": "1.50", "polled": ["wait_*"]}))

    limits = load_limits(file)

    assert limits == Limits(rounds=20, cost=Decimal("1.50"), polled=frozenset({"wait_*"}))


def test_reads_toml(tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text(
        'repeat_mode = "window"\nseconds = 90\n[repeat_limits]\nsearch = 5\n'
        "[baseline]\nruns = 30\nrounds_p95 = 9\n[baseline.tool_ms_p95]\nsearch = 800\n"
    )

    limits = load_limits(file)

    assert limits.repeat_mode is RepeatMode.WINDOW
    assert limits.repeats_allowed("search") == 5
    assert limits.repeats_allowed("other") == 2
    assert limits.baseline == Baseline(30, rounds_p95=9, tool_ms_p95={"search": 800})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "must be an object"),
        ({"round": 3}, "round: no such limit"),
        ({"rounds": 0}, "rounds: must be a whole number of at least 1"),
        ({"rounds": True}, "rounds: must be a whole number"),
        ({"rounds": 2.5}, "rounds: must be a whole number"),
        ({"seconds": -1}, "seconds: must be a number above 0"),
        ({"seconds": float("nan")}, "seconds: must be a number above 0"),
        ({"cost": "a lot"}, "cost: must be an amount above 0"),
        ({"cost": "NaN"}, "cost: must be an amount above 0"),
        ({"repeat_mode": "often"}, "repeat_mode: must be one of consecutive, window, total"),
        ({"repeat_limits": {"search": 0}}, "repeat_limits.search: must be a whole number"),
        ({"polled": "wait"}, "polled: must be a list of tool names"),
        ({"baseline": {"run": 3}}, "baseline.run: no such value"),
        ({"baseline": {"tool_ms_p95": {"a": "x"}}}, "baseline.tool_ms_p95.a: must be a number"),
    ],
)
def test_says_what_is_wrong_and_where(content: Any, said: str) -> None:
    with pytest.raises(LimitsError) as error:
        limits_from(content)

    assert said in str(error.value)


@pytest.mark.parametrize("content", ["{", "[" * 100_000, "\udcff"])
def test_names_the_file_that_is_no_json(tmp_path: Path, content: str) -> None:
    file = tmp_path / "limits.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(LimitsError, match=r"limits\.json: not JSON"):
        load_limits(file)


def test_null_is_as_if_it_were_not_there() -> None:
    assert limits_from({"rounds": None, "baseline": {"rounds_p95": None}}) == Limits()


def test_names_may_end_in_a_star() -> None:
    assert named("wait_for_build", frozenset({"wait_*"}))
    assert named("wait", frozenset({"wait"}))
    assert not named("await", frozenset({"wait*"}))


def test_the_page_on_limits_has_each_of_them_and_its_example_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/limits.md").read_text(encoding="utf-8")
    file = tmp_path / "limits.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    table = {
        name
        for row in page.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }

    assert table == {each.name for each in fields(Limits)}
    assert load_limits(file).repeats_allowed("read_file") == 4
    assert load_limits(file).polled == frozenset({"get_build_status", "wait_*"})


def test_the_line_on_a_bad_limit_is_the_one_that_the_page_shows(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/limits.md").read_text(encoding="utf-8")
    file = tmp_path / "limits.toml"
    file.write_text("[repeat_limits]\nread_file = 0\n", encoding="utf-8")

    with pytest.raises(LimitsError) as told:
        load_limits(file)

    assert f"check: limits: {told.value}`" in page
