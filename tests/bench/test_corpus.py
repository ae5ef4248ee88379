"""Real runs: what is read is looked at, what is not is named, each verdict by eye is one."""

import json
from pathlib import Path

from bench.detect.corpus import judged, read_corpus
from bench.detect.report import corpus, corpus_list

CHAT = {
    "messages": [
        {"role": "user", "content": "Where is it?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "find_item", "arguments": '{"id": 4}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": "I do not know."},
    ]
}


def test_what_no_importer_knows_is_named(tmp_path: Path):
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "one.json").write_text(json.dumps(CHAT))
    (tmp_path / "chats" / "other.json").write_text('{"colour": "blue"}')
    (tmp_path / "README.md").write_text("about")

    found = read_corpus(tmp_path)

    assert [(run.folder, run.file, run.rounds) for run in found.runs] == [
        ("chats", "chats/one.json", 2)
    ]
    assert found.unread == ["chats/other.json"]
    assert "Files that no importer reads: 1." in corpus(found)


def test_an_alarm_that_nobody_looked_at_is_told(tmp_path: Path):
    (tmp_path / "one.json").write_text(json.dumps(CHAT))

    (run,) = read_corpus(tmp_path).runs
    listed = corpus_list(list(run.alarms))

    assert [alarm.detector for alarm in run.alarms] == ["empty_result"]
    assert "Not looked at: 1." in listed
    assert "`empty_result`" in listed


def test_every_verdict_is_right_or_wrong_with_a_reason():
    for verdict in judged().values():
        assert verdict == "right" or verdict.startswith(("wrong: rule: ", "wrong: read: "))
