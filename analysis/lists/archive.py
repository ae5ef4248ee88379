"""Many runs as one zip file, written while it is sent, so that its size takes no memory."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence

from transcripts.export import Exporter
from transcripts.models import Run
from transcripts.selectors.record import run_record


class _Sink(io.RawIOBase):
    """Takes what zipfile writes, which cannot go back, and hands it on."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: object) -> int:
        self.parts.append(bytes(part))  # type: ignore[call-overload]
        return len(self.parts[-1])

    def taken(self) -> bytes:
        parts, self.parts = self.parts, []
        return b"".join(parts)


def runs_zipped(
    *,
    runs: Iterable[Run],
    exporters: Sequence[Exporter],
    note: Callable[[Run], object],
) -> Iterator[bytes]:
    """A zip file in pieces: each run in each format. `note` is called before a run is read; where
    it fails, the file breaks off there.
    """
    sink = _Sink()
    used: set[str] = set()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for run in runs:
            note(run)
            masked = run_record(run=run)
            for exporter in exporters:
                name = f"{file_name(run)}{exporter.suffix}"
                if name in used:
                    name = f"{file_name(run)}-{run.pk}{exporter.suffix}"
                used.add(name)
                archive.writestr(name, exporter.write(masked))
                yield sink.taken()
    yield sink.taken()


def file_name(run: Run) -> str:
    """A run's id as the name of a file, without its ending."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", run.run_id).strip("-.")[:80] or f"run-{run.pk}"
