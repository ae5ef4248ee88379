from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def open_folder() -> Iterator[Path]:
    """A temporary folder that other accounts reach: root runs Postgres as one of them.

    Not pytest's own, which each new session of the same person closes to others again.
    """
    folder = Path(tempfile.mkdtemp(prefix="agentdesk-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


reached_by_others = pytest.fixture(open_folder)
module_reached_by_others = pytest.fixture(open_folder, scope="module")
