"""Large files that are one list of runs: read entry by entry, so that memory holds one run at a
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from transcripts.importers.archives import Content
from transcripts.importers.base import Document, ImportProblem
from transcripts.importers.documents import document_of
from transcripts.importers.parsing import ParseError, parse

# From here on the values of a whole file take more memory than the file is worth.
LARGE = 16 * 1024**2


class _Runs(msgspec.Struct, forbid_unknown_fields=True):
    runs: list[msgspec.Raw]
    format: str = ""


def entries_of(content: Content) -> Sequence[msgspec.Raw] | None:
    """The entries of a large list, or of a large `{"runs": […]}`, as they stand in the file; else
    None.

    Nothing of them is copied. A file that is not valid is left to the reading of the whole, which
    says where it breaks.
    """
    if len(content) < LARGE:
        return None
    head = bytes(content[:64]).lstrip()[:1]
    try:
        if head == b"[":
            return msgspec.json.decode(content, type=list[msgspec.Raw])
        if head == b"{":
            return msgspec.json.decode(content, type=_Runs).runs
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    return None


def read_entries(entries: Sequence[msgspec.Raw]) -> Iterator[Document | ImportProblem]:
    """Each entry as a document of its own, and what of an entry cannot be read."""
    for index, entry in enumerate(entries):
        try:
            yield document_of(parse(str(memoryview(entry), "utf-8")), None)
        except ParseError as error:
            field = f"$[{index}]{error.field.removeprefix('$')}"
            yield ImportProblem(f"column {error.column} of the entry: {error.error}", field=field)
        except UnicodeDecodeError as error:
            yield ImportProblem(
                f"byte {error.start} of the entry is not UTF-8", field=f"$[{index}]"
            )
