"""The targets of masking on made-up secrets and on other people's runs, from AGENTDESK_SHARED."""

from __future__ import annotations

import pytest

from bench import mask

pytestmark = pytest.mark.skipif(
    not (mask.SHARED / "masking" / "make_corpus.py").exists(),
    reason="no made-up corpus: set AGENTDESK_SHARED",
)


def test_made_up_secrets_and_look_alikes_meet_the_targets():
    figures = list(mask.quality(mask.made_up(mask.SEED)))

    assert [str(figure) for figure in figures if figure.met is False] == []


def test_real_runs_have_at_most_one_false_hit_a_megabyte():
    false_hits = next(figure for figure in mask.real_runs() if "false hits" in figure.name)

    assert false_hits.met
