"""Bytes to runs: what is refused and where, and what is replaced."""

import gzip
import json

import pytest
import zstandard

from transcripts.importers import ImportProblem, UnreadableError, archives, read_runs
from transcripts.importers.parsing import MAX_DEPTH

ROUND = b'{"round":1,"stop":"stop"}'
RUN = b'{"rounds":[{"round":1,"reply":"a"}]}'


def read(content):
    return list(read_runs(content, default_run_id="r"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "there is no content", id="empty"),
        pytest.param(b" \n\t\n", "there is no content", id="only spaces"),
        pytest.param(b"hello", "line 1: column 1: this is not JSON", id="not JSON"),
        pytest.param(b"\n\n<html>", "line 3: column 1: this is not JSON", id="not JSON, line 3"),
        pytest.param(b'{"a":1}', 'an object with the keys "a"', id="another shape"),
        pytest.param(b"{}", "an empty object", id="an empty object"),
        pytest.param(b"[]", "an empty list", id="an empty list"),
        pytest.param(b"5", "a single value", id="a number"),
        pytest.param(b'{"rounds":[', "line 1: column 12: the JSON breaks off", id="cut"),
        pytest.param(b'{"rounds":["ab', "breaks off within the text that starts", id="cut text"),
        pytest.param(
            b'{"rounds":\n[{"round":1,"cost":NaN}]}',
            "line 2, $.rounds[0].cost: column 20: NaN is not a JSON number",
            id="NaN",
        ),
        pytest.param(b'{"rounds":[-Infinity]}', "$.rounds[0]: column 12: -Inf", id="infinity"),
        pytest.param(
            b'{"rounds":[{"round":1,\n"reply":"a","reply":"b"}]}',
            'line 2, $.rounds[0].reply: column 13: the key "reply" occurs twice',
            id="a key twice",
        ),
        pytest.param(
            b'{"a":{"b":1,"\\u0062":2}}', 'the key "b" occurs twice', id="a key twice, escaped"
        ),
        pytest.param(b"[" * 10_000, f"nested deeper than {MAX_DEPTH}", id="10,000 open brackets"),
        pytest.param(
            b'{"rounds":[{"round":1,"x":' + b"[" * 300 + b"]" * 300 + b"}]}",
            "$.rounds[0].x[0][0][0][0][0]…",
            id="300 brackets, closed",
        ),
        pytest.param(
            b'{"rounds":[{"round":' + b"9" * 5000 + b"}]}",
            "$.rounds[0].round: column 21: the number is too long",
            id="a number of 5,000 digits",
        ),
        pytest.param(
            b'{"a":1e99999999999999999999}', "the number is too long", id="a giant exponent"
        ),
        pytest.param(
            b'{"a":\n"b\xff"}', "line 2: column 3: byte 0xff is not UTF-8", id="not UTF-8"
        ),
        pytest.param(b'{"a":"\x00"}', "invalid control character", id="a bare NUL"),
        pytest.param(b"\xff\xfe{\x00}", "is marked as UTF-16 and is not", id="cut UTF-16"),
    ],
)
def test_refuses_and_says_where(content, says):
    with pytest.raises(UnreadableError) as caught:
        read(content)

    assert says in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(RUN, id="one line"),
        pytest.param(json.dumps(json.loads(RUN), indent=1).encode(), id="many lines"),
        pytest.param(b"\n\n" + RUN + b"\n\n", id="blank lines around"),
        pytest.param(b"[\n" + RUN + b"\n]", id="a list, an entry a line"),
        pytest.param(b"\xef\xbb\xbf" + RUN, id="byte order mark"),
        pytest.param(RUN.decode().encode("utf-16"), id="UTF-16, as Windows shells write"),
        pytest.param(gzip.compress(RUN), id="gzip"),
        pytest.param(gzip.compress(RUN[:9]) + gzip.compress(RUN[9:]), id="gzip in two members"),
        pytest.param(gzip.compress(RUN) + b"\0" * 100, id="gzip with padding"),
        pytest.param(zstandard.compress(RUN), id="zstd"),
        pytest.param(
            zstandard.compress(RUN[:9]) + zstandard.compress(RUN[9:]), id="zstd in two frames"
        ),
        pytest.param(bytearray(RUN), id="a bytearray"),
    ],
)
def test_reads_one_value(content):
    (run,) = read(content)

    assert [round_.reply for round_ in run.rounds] == ["a"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(gzip.compress(RUN)[:-9], "the gzip content breaks off", id="gzip cut"),
        pytest.param(zstandard.compress(RUN)[:-3], "the zstd content breaks off", id="zstd cut"),
        pytest.param(b"\x1f\x8bxxxxxxx", "the gzip content is damaged", id="no gzip"),
        pytest.param(b"\x28\xb5\x2f\xfdxxxxxxxx", "the zstd content is damaged", id="no zstd"),
    ],
)
def test_refuses_damaged_archives(content, says):
    with pytest.raises(UnreadableError, match=says):
        read(content)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_refuses_a_bomb_before_it_is_unpacked(pack):
    bomb = pack(b"[" + b" " * 150_000_000 + b"]")

    with pytest.raises(UnreadableError, match="times its size"):
        read(bomb)


def test_refuses_what_unpacks_to_too_much(monkeypatch):
    monkeypatch.setattr(archives, "MAX_UNPACKED", 10)

    with pytest.raises(UnreadableError, match="unpacks to more than"):
        read(gzip.compress(RUN))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param(b'{"round":2,"st', "line 2: column 12: the JSON breaks off", id="half"),
        pytest.param(b"oops", "line 2: column 1: this is not JSON", id="not JSON"),
        pytest.param(b'{"a":1,"a":2}', 'line 2, $.a: column 8: the key "a"', id="a key twice"),
        pytest.param(b'{"a":"\xff"}', "line 2: column 7: byte 0xff is not UTF-8", id="not UTF-8"),
        pytest.param(b'{"a":1}', "line 2: this is neither a run nor a round", id="other shape"),
    ],
)
def test_says_which_line_is_broken_and_reads_the_others(line, says):
    lines = b"\n".join([ROUND, line, b'{"round":3,"stop":"stop"}'])

    problem, run = read(lines)

    assert isinstance(problem, ImportProblem)
    assert says in str(problem)
    assert [round_.number for round_ in run.rounds] == [1, 3]


def test_a_run_with_a_broken_line_says_so():
    _, run = read(ROUND + b'\n{"round":2')

    assert run.notes == ("Line 2 of the file could not be read.",)


def test_reads_lines_of_which_the_first_is_broken():
    problem, run = read(b'{"round":\n{"round":2,"stop":"stop"}')

    assert problem.line == 1
    assert [round_.number for round_ in run.rounds] == [2]


def test_shows_nul_and_half_characters_and_counts_them():
    content = b'{"rounds":[{"round":1,"reply":"a\\u0000b\\ud800","calls":[{"name":"x\\u0000"}]}]}'

    (run,) = read(content)

    assert run.rounds[0].reply == "a\u2400b\ufffd"
    assert run.rounds[0].calls[0].name == "x\u2400"
    assert run.notes == (
        "NUL characters, shown as \u2400: 2",
        "Half characters (lone surrogates), shown as \ufffd: 1",
    )


def test_shows_them_within_arguments_that_are_text():
    inner = r'{"a":"\u0000 \ud83d\ude00 \ud83d \\u0000"}'
    content = json.dumps({"rounds": [{"round": 1, "calls": [{"name": "x", "args": inner}]}]})

    (run,) = read(content.encode())

    assert json.loads(run.rounds[0].calls[0].args) == {"a": "\u2400 😀 \ufffd \\u0000"}


def test_reads_a_python_literal_and_says_so():
    first = "{'role': 'user', 'content': 'It\\'s'}"
    content = f"[{first}, {{'role': 'assistant', 'content': None, 'x': True}}]".encode()

    (run,) = read(content)

    assert run.messages[0].content == "It's"
    assert "This file is a Python literal, not JSON." in run.notes


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[open('x')]", id="a call"),
        pytest.param(b"{1: 2, 'a': {3}}", id="a set"),
        pytest.param(b"[b'x', 'y']", id="bytes"),
        pytest.param(b"['x', 1e999]", id="infinity"),
        pytest.param(b"['x'," + b"[" * 5000, id="nested"),
    ],
)
def test_refuses_python_that_is_no_transcript(content):
    with pytest.raises(UnreadableError):
        read(content)


def test_keeps_whole_characters_and_escaped_escapes():
    content = rb'{"rounds":[{"round":1,"reply":"\ud83d\ude00 \\u0000 \\ud800"}]}'

    (run,) = read(content)

    assert run.rounds[0].reply == "😀 \\u0000 \\ud800"
    assert run.notes == ()


def test_keeps_the_digits_of_numbers():
    args = '{"a":1.10,"b":12345678901234567890}'
    content = f'{{"rounds":[{{"round":1,"calls":[{{"name":"x","args":{args}}}]}}]}}'

    (run,) = read(content.encode())

    assert run.rounds[0].calls[0].args == args


def test_takes_10_mb_of_one_string():
    text = "x" * 10_000_000

    (run,) = read(json.dumps({"rounds": [{"round": 1, "reply": text}]}).encode())

    assert run.rounds[0].reply == text


def test_names_a_run_without_id_by_its_content():
    names = {run.run_id for content in (RUN, RUN, RUN + b" ") for run in read_runs(content)}

    assert len(names) == 2
    assert all(name.startswith("run-") for name in names)


def test_says_which_formats_there_are():
    with pytest.raises(UnreadableError, match=r'there is no format "csv"; there are: .*native'):
        read_runs(RUN, format="csv")


def test_refuses_a_file_that_is_not_of_the_format_asked_for():
    with pytest.raises(UnreadableError, match="this is not OpenAI chat completions"):
        read_runs(RUN, format="openai_chat")
