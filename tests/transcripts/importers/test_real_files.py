"""Files of other people: the shared samples of each format, and real runs."""

import os
from pathlib import Path

import pytest

from transcripts.importers import ImportProblem, UnreadableError, read_runs
from transcripts.record import completeness

SHARED = Path(os.environ.get("AGENTDESK_SHARED", Path(__file__).parents[4] / "shared"))
FOLDERS = ("reference/samples", "corpus")
NOT_TRANSCRIPTS = {
    "mcp_call_tool_result.json": "one tool result, which says nothing of a run",
    "mcp_unknown_tool_error.json": "one tool result, which says nothing of a run",
}
NO_TRANSCRIPT_NAMES = ("LICENSE", "README")

pytestmark = pytest.mark.skipif(
    not all((SHARED / folder).is_dir() for folder in FOLDERS),
    reason=f"the shared files are not in {SHARED.name}; AGENTDESK_SHARED says where they are",
)


def files():
    found = [
        path
        for folder in FOLDERS
        for path in sorted((SHARED / folder).rglob("*"))
        if path.is_file()
        and not path.name.startswith(NO_TRANSCRIPT_NAMES)
        and path.name not in NOT_TRANSCRIPTS
    ]
    return found or [None]


def name_of(path):
    return str(path.relative_to(SHARED)) if path else "none"


def read(path):
    found = list(read_runs(path.read_bytes(), default_run_id=path.name.partition(".")[0]))
    problems = [str(entry) for entry in found if isinstance(entry, ImportProblem)]
    return [entry for entry in found if not isinstance(entry, ImportProblem)], problems


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_is_recognised_and_gives_rounds(path):
    runs, problems = read(path)

    assert problems == []
    assert runs
    assert all(run.rounds for run in runs if "error" not in run.ending_reason)
    assert len({run.run_id for run in runs}) == len(runs)


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_every_input_names_messages_that_are_there(path):
    runs, _ = read(path)

    for run in runs:
        for _, keys in run.inputs():
            assert set(keys or ()) <= run.message_by_key.keys()
        assert [round_.number for round_ in run.rounds] == list(range(1, len(run.rounds) + 1))


def test_how_many_are_recognised(capsys):
    """Printed for people; the count is asserted so that a file cannot drop out unseen."""
    formats = {}
    unread = []
    for path in files():
        try:
            runs, _ = read(path)
        except UnreadableError as error:
            unread.append(f"{name_of(path)}: {error}")
            continue
        for run in runs:
            counts = formats.setdefault(run.format, [0, 0, 0])
            counts[0] += 1
            counts[1] += len(run.rounds)
            counts[2] += completeness(run).unanswered_calls
    with capsys.disabled():
        print(f"\n{len(files()) - len(unread)} of {len(files())} files are recognised")
        for format, (run_count, rounds, unanswered) in sorted(formats.items()):
            print(f"  {format}: {run_count} runs, {rounds} rounds, {unanswered} calls unanswered")

    assert unread == []
