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
MILLION = 1_000_000
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


# By identity of the list's own price objects, which live as long as the list.
_RATES: dict[int, tuple[Any, _Rates | None]] = {}


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
    cached = min(round_.tokens_cached or 0, round_.tokens_in)
    counts = (round_.tokens_in, cached, round_.tokens_out or 0)
    try:
        prices = found[1].get_prices(at or datetime.now(tz=UTC))
        rates = _rates(prices)
        return rates.of(*counts) if rates else _priced(prices, *counts)
    except (LookupError, ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class _Rates:
    """Prices in dollars: of a request, and of a million tokens read anew, from the cache and
    written.
    """

    request: Decimal
    fresh: Decimal
    cached: Decimal
    written: Decimal

    def of(self, tokens_in: int, cached: int, tokens_out: int) -> Decimal:
        tokens = (
            (tokens_in - cached) * self.fresh + cached * self.cached + tokens_out * self.written
        )
        return self.request + tokens / MILLION


def _rates(prices: Any) -> _Rates | None:
    """The prices as rates, which are much faster to use; None where they depend on the amount."""
    known = _RATES.get(id(prices))
    if known is None or known[0] is not prices:
        known = _RATES[id(prices)] = (prices, _read_rates(prices))
    return known[1]


def _read_rates(prices: Any) -> _Rates | None:
    from genai_prices.types import TieredPrices

    if any(isinstance(price, TieredPrices) for price in vars(prices).values()):
        return None
    request = _priced(prices, 0, 0, 0)
    fresh, cached, written = (
        _priced(prices, *counts) - request
        for counts in ((MILLION, 0, 0), (MILLION, MILLION, 0), (0, 0, MILLION))
    )
    return _Rates(request, fresh, cached, written)


def _priced(prices: Any, tokens_in: int, cached: int, tokens_out: int) -> Decimal:
    """As the price list itself computes it."""
    from genai_prices import Usage

    usage = Usage(
        input_tokens=tokens_in, cache_read_tokens=cached or None, output_tokens=tokens_out
    )
    return Decimal(prices.calc_price(usage)["total_price"])


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
