"""What a model's tokens cost and how much it can read, from the dated price list (genai-prices).

The list is loaded at the first question only: most runs say both themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from transcripts.record import Round, RunRecord

# The list's prices are in this currency.
CURRENCY = "USD"
# Characters of a model's name that are looked up.
LONGEST_NAME = 200
# Names that records use for a service, and the list's own. Others are tried as they are.
_PROVIDERS = {
    "openai.chat": "openai",
    "openai.responses": "openai",
    "azure_openai": "azure",
    "google.generate_content": "google",
    "google_genai": "google",
    "gemini": "google",
    "vertexai": "google",
    "vertex_ai": "google",
    "bedrock": "aws",
    "aws.bedrock": "aws",
    "aws.bedrock.converse": "aws",
    "claude": "anthropic",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "cohere.v2": "cohere",
}


@dataclass(frozen=True, slots=True)
class RunCost:
    """What a run cost. `computed`: from its tokens and the price list, in US dollars.

    `rounds` says of how many rounds the cost is known: a sum over some is not the run's cost.
    """

    amount: Decimal
    currency: str
    computed: bool
    rounds: int


def cost_of(run: RunRecord) -> RunCost | None:
    """The run's cost as it says itself, else computed; None where neither can be known."""
    told = [round_.cost for round_ in run.rounds if round_.cost is not None]
    if told:
        return RunCost(sum(told, Decimal(0)), run.currency, False, len(told))
    computed = [cost for round_ in run.rounds if (cost := round_cost(run, round_)) is not None]
    if not computed:
        return None
    return RunCost(sum(computed, Decimal(0)), CURRENCY, True, len(computed))


def round_cost(run: RunRecord, round_: Round) -> Decimal | None:
    """What one round's tokens cost in US dollars at the run's date; None where that cannot be
    known.
    """
    model = round_.model or run.model
    if not model or round_.tokens_in is None:
        return None
    at = round_.started_at or run.started_at
    found = _found(model[:LONGEST_NAME], _provider(run.provider))
    if found is None:
        return None
    from genai_prices import Usage

    cached = min(round_.tokens_cached or 0, round_.tokens_in)
    try:
        usage = Usage(
            input_tokens=round_.tokens_in,
            cache_read_tokens=cached or None,
            output_tokens=round_.tokens_out or 0,
        )
        price = found[1].calc_price(
            usage, found[0], genai_request_timestamp=at or datetime.now(tz=UTC)
        )
    except (LookupError, ValueError, TypeError):
        return None
    return Decimal(price.total_price)


def window_of(run: RunRecord) -> int | None:
    """The context window of the run's model in tokens, where the price list has it."""
    model = run.model or next((round_.model for round_ in run.rounds if round_.model), "")
    found = _found(model[:LONGEST_NAME], _provider(run.provider)) if model else None
    return int(found[1].context_window) if found is not None and found[1].context_window else None


def _provider(name: str) -> str:
    bare = name.strip().lower()
    return _PROVIDERS.get(bare, bare)


@lru_cache(maxsize=512)
def _found(model: str, provider: str) -> Any:
    """The list's provider and model, or None."""
    from genai_prices.data_snapshot import get_snapshot

    for provider_id in (provider or None, None):
        try:
            return get_snapshot().find_provider_model(model, None, provider_id, None)
        except LookupError:
            continue
    return None
