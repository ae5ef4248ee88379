"""Raw stop labels: what each means, and what a reply's content changes about it."""

import pytest

from transcripts.record import Stop
from transcripts.stop_reasons import decide, plain_label, stop_labels


@pytest.mark.parametrize(
    ("raw", "provider", "plain"),
    [
        pytest.param("stop", "openai.chat", Stop.FINISHED, id="the provider's own"),
        pytest.param("FinishReason.MAX_TOKENS", "google", Stop.CUT_OFF, id="enum prefix"),
        pytest.param("'stop'", "", Stop.FINISHED, id="quotes"),
        pytest.param("STOPSTOP", "gemini", Stop.FINISHED, id="doubled by chunk merging"),
        pytest.param("tool_callstool_callstool_calls", "", Stop.WANTS_TOOL, id="tripled"),
        pytest.param("FINISH_REASON_SAFETY", "google", Stop.BLOCKED, id="proto name"),
        pytest.param("content-filter", "", Stop.BLOCKED, id="any provider, hyphen"),
        pytest.param("Max Tokens", "", Stop.CUT_OFF, id="any provider, case and space"),
        pytest.param("10", "gemini", Stop.ERROR, id="number of the Gemini API"),
        pytest.param("10", "vertex_ai", Stop.BLOCKED, id="the same number of Vertex"),
        pytest.param("2", "google", Stop.CUT_OFF, id="a number both agree on"),
        pytest.param("10", "google", Stop.UNKNOWN, id="a number they disagree on"),
        pytest.param("2", "", Stop.UNKNOWN, id="a number of nobody"),
        pytest.param("UNKNOWN_31", "google", Stop.UNKNOWN, id="LangChain's unknown"),
        pytest.param("length", "anthropic", Stop.CUT_OFF, id="another provider's label"),
        pytest.param("something new", "openai.chat", Stop.UNKNOWN, id="not in the table"),
        pytest.param("wants_tool", "", Stop.WANTS_TOOL, id="a plain label"),
    ],
)
def test_reads_a_raw_label(raw, provider, plain):
    assert plain_label(raw, provider=provider) == plain


@pytest.mark.parametrize(
    ("raw", "wants_tool", "refused", "stop"),
    [
        pytest.param("stop", True, False, Stop.WANTS_TOOL, id="a request whatever the label"),
        pytest.param("length", True, False, Stop.CUT_OFF, id="a half-written request"),
        pytest.param("content_filter", True, False, Stop.BLOCKED, id="blocked wins"),
        pytest.param("error", True, False, Stop.ERROR, id="error wins"),
        pytest.param("brand new", True, False, Stop.UNKNOWN, id="unknown wins"),
        pytest.param("stop", False, True, Stop.BLOCKED, id="a refusal"),
        pytest.param("tool_calls", True, True, Stop.BLOCKED, id="a refusal with requests"),
        pytest.param(None, True, False, Stop.WANTS_TOOL, id="no label, a request"),
        pytest.param(None, False, False, Stop.FINISHED, id="no label, no request"),
        pytest.param(" ", True, False, Stop.WANTS_TOOL, id="a blank label is none"),
        pytest.param("tool_calls", False, False, Stop.WANTS_TOOL, id="a label without request"),
    ],
)
def test_decides_by_label_and_content(raw, wants_tool, refused, stop):
    assert decide(raw, wants_tool=wants_tool, refused=refused) == stop


def test_every_row_of_the_table_is_read_as_it_says():
    """Where one provider writes a label into two fields, the first row of the two holds."""
    first = {}
    for row in stop_labels():
        first.setdefault((row.provider, row.label), row)

    wrong = [
        row
        for (provider, label), row in first.items()
        if label and plain_label(label, provider=provider) != row.plain
    ]

    assert wrong == []
    assert len(stop_labels()) == 315
    assert all(row.source and row.field for row in stop_labels())
