"""Every rule file keeps its own promises: what must match does, what must not does not."""

from __future__ import annotations

import tomllib

import pytest
import yaml

from tests.transcripts.masking.builders import found
from transcripts.masking import engine
from transcripts.masking.budget import Budget
from transcripts.masking.context import rule_hits
from transcripts.masking.fold import fold
from transcripts.masking.prose import prose_hits
from transcripts.masking.rulefiles import FOLDER, rule_set, text_rules

ENGINE_RULES = yaml.safe_load((FOLDER / "engine.yml").read_text())["rules"]
PROSE = tomllib.loads((FOLDER / "prose.toml").read_text())


def hits_of(rule: str, text: str) -> list[str]:
    return [hit.rule for hit in engine.scan(text.encode(), Budget(len(text))) if hit.rule == rule]


@pytest.mark.parametrize("rule", ENGINE_RULES, ids=lambda rule: rule["id"])
def test_an_engine_rule_matches_its_examples_alone(rule):
    assert rule["examples"]
    assert rule["negative_examples"]
    assert all(hits_of(rule["id"], example) for example in rule["examples"])
    assert not any(hits_of(rule["id"], example) for example in rule["negative_examples"])


@pytest.mark.parametrize("rule", text_rules("context"), ids=lambda rule: rule.id)
def test_a_context_rule_matches_its_examples_alone(rule):
    assert list(rule_hits(rule, rule.must, fold(rule.must)))
    assert not list(rule_hits(rule, rule.must_not, fold(rule.must_not)))
    assert any(word in fold(rule.must).lower() for word in rule.needs)


@pytest.mark.parametrize("text", PROSE["must"])
def test_prose_finds_what_it_must(text):
    assert list(prose_hits(fold(text), Budget(len(text))))


@pytest.mark.parametrize("text", PROSE["must_not"])
def test_prose_leaves_what_it_must_not(text):
    assert found(text) == []


def test_rule_ids_are_unique():
    ids = [rule["id"] for rule in ENGINE_RULES] + [rule.id for rule in text_rules("context")]

    assert len(ids) == len(set(ids))


def test_the_rule_set_names_number_engine_and_content():
    number, engine_version, digest = rule_set().split("-")

    assert number == (FOLDER / "VERSION").read_text().strip()
    assert engine_version.startswith("kf")
    assert len(digest) == 8
