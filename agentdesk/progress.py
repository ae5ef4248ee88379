"""How far an import is: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import io
import time
from types import TracebackType
from typing import IO, Any, TextIO

from tqdm import tqdm

from agentdesk.importing import FileReport
from analysis.report import printable

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_BARS = 0.1
NAME_SHOWN = 32


class Progress:
    """Follows the reading of one file. `size` None: not known (a pipe)."""

    def __init__(self, file: IO[bytes], name: str, size: int | None, out: TextIO) -> None:
        self._file = file
        self._name = printable(name)
        self._size = size
        self._out = out
        self._told_at = time.monotonic()
        self._bar: tqdm[Any] | None = None
        if out.isatty():
            self._bar = tqdm(
                total=size,
                desc=self._name[-NAME_SHOWN:],
                unit="B",
                unit_scale=True,
                file=out,
                leave=False,
                dynamic_ncols=True,
            )

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def seen(self, report: FileReport) -> None:
        """So many runs are stored by now."""
        pause = SECONDS_BETWEEN_LINES if self._bar is None else SECONDS_BETWEEN_BARS
        if time.monotonic() - self._told_at < pause:
            return
        self._told_at = time.monotonic()
        at = self._position()
        if self._bar is not None:
            self._bar.n = at
            self._bar.set_postfix_str(f"{report.runs:,} runs, {report.rounds:,} rounds")
        else:
            share = f"{100 * at // self._size} % read, " if self._size else ""
            self._out.write(f"{self._name}: {share}{report.runs:,} runs so far\n")
            self._out.flush()

    def _position(self) -> int:
        try:
            return self._file.tell()
        except (OSError, io.UnsupportedOperation):
            return 0
