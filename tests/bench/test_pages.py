"""The runs that pages are measured with, and what is asked of a measurement."""

import importlib

import pytest

from bench import __main__ as bench_main
from bench.pages import runs
from bench.pages.__main__ import parsed
from bench.pages.reading import Reading, ratios


def test_every_name_is_a_measurement():
    for name in bench_main.names():
        module = importlib.import_module(f"bench.{name}")
        if not hasattr(module, "main"):
            module = importlib.import_module(f"bench.{name}.__main__")
        assert callable(module.main), name


def test_one_round_says_the_words_to_find():
    record = runs.a_long_record(52)

    saying = [each.number for each in record.rounds if runs.to_find(52) in each.reply]

    assert saying == [27]


def test_without_being_asked_no_peer_is_measured():
    asked = parsed([])

    assert (asked.peers, asked.peer_rounds) == (None, [])


@pytest.mark.parametrize(
    ("options", "names", "lengths"),
    [
        pytest.param(["--peers"], 3, [52, 1_000, 5_000], id="all, never the longest"),
        pytest.param(["--peers", "phoenix"], 1, [52, 1_000, 5_000], id="one"),
        pytest.param(["--rounds", "52", "--peers"], 3, [52], id="the lengths asked for"),
        pytest.param(["--peers", "--peer-rounds", "32843"], 3, [32_843], id="the longest, asked"),
    ],
)
def test_peers_are_measured_at_lengths_that_they_can_bear(options, names, lengths):
    asked = parsed(options)

    assert (len(asked.peers), asked.peer_rounds) == (names, lengths)


def test_an_unknown_peer_is_refused(capsys):
    with pytest.raises(SystemExit):
        parsed(["--peers", "nobody"])

    assert "nobody" in capsys.readouterr().err


def test_ratios_are_theirs_to_ours_by_the_median():
    ours = Reading([0.4, 0.5, 9.0], last=0.2, elements=600, longest=0.0)
    theirs = Reading([7.5], last=3.0, found=0.8, elements=6_000, longest=900.0)

    told = {each.name: each.values for each in ratios("P to A", theirs, ours)}

    assert told == {
        "P to A: run readable": [15.0],
        "P to A: last round": [15.0],
        "P to A: most elements": [10.0],
    }


def test_a_run_that_never_opened_has_no_ratio():
    assert list(ratios("P to A", Reading(), Reading([0.5], last=0.2))) == []
