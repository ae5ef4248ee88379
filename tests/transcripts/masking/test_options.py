from __future__ import annotations

import pytest

from tests.transcripts.masking.builders import a_masker, masked
from transcripts.masking import Options, own_rule
from transcripts.record import RunRecord


def test_a_projects_own_rule_masks_its_group():
    options = Options(rules=(own_rule("badge", r"badge no\.? (\d{5})"),))

    assert masked("Badge no. 44182 is lost", options=options).startswith("Badge no. [SECRET:own:")
    assert masked("Badge no. 44182 is lost") == "Badge no. 44182 is lost"


def test_an_own_rule_is_named_in_the_receipt():
    one = a_masker(options=Options(rules=(own_rule("site", "site-[a-z]{3}"),)))
    one.text("from site-abc to site-xyz now 1")

    assert one.receipt.hits == {"own.site": 2}


def test_a_masked_run_is_masked_again_under_new_rules():
    old = a_masker().run(RunRecord("r", notes=("password=Orchid.4417 at site-abc 1",)))

    new = a_masker(options=Options(rules=(own_rule("site", "site-[a-z]{3}"),))).again(old)

    (before,), (after,) = old.record.notes, new.record.notes
    assert "site-abc" in before
    assert after.startswith(before.partition("site-abc")[0] + "[SECRET:own:")
    assert new.receipt.hits == {"own.site": 1}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("(unclosed", "missing"),
        (r"(a)(b)", "2 groups"),
        (r"\d*", "empty text"),
        ("(?=look)", "perl operator"),
        ("ключ", "Latin-1"),
        ("a" * 1001, "1000 are allowed"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_its_reason(source, reason):
    with pytest.raises(ValueError, match=reason):
        own_rule("bad", source)
