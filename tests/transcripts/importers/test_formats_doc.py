"""`docs/formats.md` lists every format, and what of a run each carries, as its test files show.

Set AGENTDESK_TEST_WRITE_DOCS=1 to write the page anew.
"""

import os
from pathlib import Path

from transcripts.export import all_exporters
from transcripts.importers import all_importers, read_runs
from transcripts.importers.native_types import FORMAT
from transcripts.record import RunRecord

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/formats.md"
DATA = ROOT / "tests/data"

HEAD = f"""# Formats that are read

A file is recognised by its content, never by its name. It may be JSON, JSONL (one value a line), or
packed with gzip, zstd or zip; Inspect's `.eval` files, VCR cassettes and lists that Python printed
are read too. `--format NAME` and `?format=NAME` say a format by name. To send runs of your own, use
the [native format](native-format.md) (`{FORMAT}`).

What each format can carry, as its test files in `tests/data` show: **results** are joined to their
calls by id, or by the tool's name or order where the format has no ids; **error flag** is the
sender's own word that a tool failed; **stop label** is the service's own word for why a reply
ended; **input** is what the model read in each round. What a format does not carry is said on each
run's page, and detectors do without it. A result that is an answer of MCP, by itself or in its
JSON-RPC envelope, carries its `isError`, and a JSON-RPC error is one, in every format.

| name | format | calls | results | error flag | stop label | tokens | reasoning | input |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""

OUT = """
# Formats that are written

`./desk export RUN --as NAME`, *Export* on a run's page, and `GET /api/v1/runs/ID/export?as=NAME`
write a stored run, masked as it is kept. The command says what of this run was left out.
"""


def runs_of(format):
    for path in sorted((DATA / format).glob("*.json*")):
        found = read_runs(path.read_bytes(), default_run_id="r")
        yield from (entry for entry in found if isinstance(entry, RunRecord))


def carried(format):
    """One word for each column, over all test files of a format."""
    runs = list(runs_of(format))
    rounds = [round_ for run in runs for round_ in run.rounds]
    calls = [call for round_ in rounds for call in round_.calls]
    joined = [call.joined or "beside" for call in calls if call.result is not None]
    how = next((word for word in ("id", "beside", "name", "order") if word in joined), "")
    words = {"id": "by id", "beside": "beside", "name": "by name", "order": "by order", "": ""}
    return (
        "yes" if calls else "",
        words[how],
        "yes" if any(call.is_error is not None for call in calls) else "",
        "yes" if any(round_.stop_raw for round_ in rounds) else "",
        "yes" if any(round_.tokens_in is not None for round_ in rounds) else "",
        "yes" if any(round_.reasoning for round_ in rounds) else "",
        "yes" if any(round_.input is not None for round_ in rounds) else "",
    )


def page():
    rows = []
    for importer in sorted(all_importers(), key=lambda importer: importer.title.casefold()):
        cells = (f"`{importer.name}`", importer.title, *carried(importer.name))
        rows.append(f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |"))
    return HEAD + "\n".join(rows) + "\n" + OUT + "\n".join(map(out, all_exporters())) + "\n"


def out(exporter):
    """One format that runs are written in, with all that it has no place for."""
    lost = "".join(f"\n- {words}" for words in exporter.cannot_hold)
    said = f"Cannot hold:\n{lost}" if lost else "Holds all that is kept of a run."
    return f"\n### `{exporter.name}`: {exporter.title}\n\n{said}"


def test_the_page_says_what_is_so():
    if os.environ.get("AGENTDESK_TEST_WRITE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_format_has_a_file_that_shows_it():
    missing = [i.name for i in all_importers() if not list(runs_of(i.name))]

    assert missing == []


def test_each_file_is_read_by_the_format_of_its_folder():
    wrong = [
        (run.format, folder.name)
        for folder in DATA.iterdir()
        if folder.is_dir() and folder.name in {i.name for i in all_importers()}
        for run in runs_of(folder.name)
        if run.format != folder.name
    ]

    assert wrong == []
