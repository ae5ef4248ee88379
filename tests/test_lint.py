"""The linters, as tests, so that one summary tells all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["ruff", "check"], id="ruff check"),
        pytest.param(["ruff", "format", "--check"], id="ruff format"),
        pytest.param(["mypy"], id="mypy"),
    ],
)
def test_finds_nothing(arguments: list[str]) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-2000:]


def test_templates_keep_the_style() -> None:
    templates = sorted((ROOT / "templates").rglob("*.html"))

    answer = subprocess.run(
        [
            Path(sys.executable).with_name("djade"),
            *("--check", "--target-version", "5.2"),
            *templates,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert templates
    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-2000:]
