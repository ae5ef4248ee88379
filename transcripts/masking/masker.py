"""Masks one run's texts: finds secrets, names them, and remembers them for the rest of the run."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from transcripts.masking import engine
from transcripts.masking.budget import Budget
from transcripts.masking.encoded import decoded_text
from transcripts.masking.errors import MaskingError, OutOfTimeError
from transcripts.masking.finding import Found, Search, find
from transcripts.masking.known import KnownValues
from transcripts.masking.options import DEFAULT, Options
from transcripts.masking.placeholders import RunKey
from transcripts.masking.records import each_text, mapped
from transcripts.masking.render import quoted, rendered, widened
from transcripts.masking.rulefiles import rule_set
from transcripts.masking.spans import Hit, merged
from transcripts.masking.types import MaskedRun, MaskedText, MaskReceipt, masked_text
from transcripts.masking.views import canonical
from transcripts.record import RunRecord

# Masking is repeated until nothing more is found, at most this often; then the whole text is
# masked.
ROUNDS: Final = 4
# Names and short words, which no rule finds anything in: most strings of a run.
HARMLESS: Final = re.compile(r"[a-z][a-z_., -]{0,80}|[A-Za-z]{0,15}|\d{0,11}")
# Ids of spans, traces and calls by themselves. Not those that begin as bank accounts do, nor those
# of digits alone, as cards have.
ID: Final = re.compile(
    r"(?![a-f]{2}\d\d)(?=[\d-]*[a-f])"
    r"(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"|call_\d{1,11}"
)


@dataclass(frozen=True, slots=True)
class MaskedSpan:
    """A place in the input, in characters, the rule that found it, and what stands there now."""

    start: int
    end: int
    rule: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class _Done:
    """A masked text and how it came about."""

    text: MaskedText
    spans: tuple[MaskedSpan, ...] = ()


class Masker:
    """Masks the texts of one run. Cheap to make: the engine is shared by the process.

    `key` is the master key (at least 16 bytes, `ValueError` otherwise). `known` are digests of
    secrets that earlier deliveries of this run brought, as `known` of the masker was then; `known`
    of the object has the new ones added, to be stored with the run. `allowed` are digests of values
    that the project says are no secrets (`RunKey.allowed_digest`).

    Every method raises `MaskingError` when a text cannot be masked; nothing of it may be stored
    then.
    """

    def __init__(
        self,
        *,
        key: bytes,
        project: str,
        run: str,
        known: Mapping[str, str] | None = None,
        allowed: Collection[str] = (),
        options: Options = DEFAULT,
    ) -> None:
        self._key = RunKey.derive(master=key, project=project, run=run)
        self._known = KnownValues(self._key, known or {})
        self._allowed = frozenset(allowed)
        self._options = options
        self._hits: dict[str, int] = {}
        self._done: dict[tuple[str, bool], _Done] = {}

    @property
    def known(self) -> Mapping[str, str]:
        """Digests of the secrets seen so far, with families and tickets; holds no plain text."""
        return self._known.to_store()

    @property
    def news(self) -> int:
        """How many secrets were seen that `known` did not hold when this masker was made, of those
        that are odd enough to be looked for everywhere.
        """
        return self._known.news()

    @property
    def receipt(self) -> MaskReceipt:
        """The rule set, and how many places each rule had masked in all that was masked so far."""
        version = self._options.version
        name = f"{rule_set()}+{version}" if version else rule_set()
        return MaskReceipt(name, dict(sorted(self._hits.items())))

    def text(self, value: str) -> MaskedText:
        """`value` with its secrets replaced. JSON is read as JSON and stays it."""
        return self._masked(value, as_json=False)

    def json_text(self, value: str) -> MaskedText:
        """JSON text with its secrets replaced, still JSON; broken JSON is masked as text."""
        return self._masked(value, as_json=True)

    def run(self, record: RunRecord) -> MaskedRun:
        """The run with every text masked: content, ids, names, labels, keys and values.

        A secret that one text gives away is masked in all others too, in those before it as well.
        """
        each_text(record, self._seen, partial(self._seen, as_json=True))
        self._look_again()
        return MaskedRun(mapped(record, self.text, self.json_text), self.receipt)

    def look_through(self, values: Iterable[tuple[str, bool]]) -> None:
        """Learn the secrets of texts (with whether each is JSON text) before they are masked, so
        that what one gives away is masked in all.
        """
        for value, as_json in values:
            self._seen(str.__str__(value), as_json=as_json)
        self._look_again()

    def caught_up(self, value: MaskedText, *, as_json: bool = False) -> MaskedText:
        """A text that was masked before, masked anew if it may hold what this masker learned."""
        if not self._known.news_may_be_in(value):
            return value
        return self._masked(str.__str__(value), as_json=as_json)

    def again(self, run: MaskedRun) -> MaskedRun:
        """A masked run masked anew under this rule set; what is masked keeps its placeholders."""
        return self.run(mapped(run.record, str.__str__, str.__str__))

    def spans(self, value: str) -> tuple[MaskedText, list[MaskedSpan]]:
        """`value` masked, with the places in it that were replaced."""
        self._seen(value)
        self._look_again()
        return self.text(value), list(self._done[value, False].spans)

    def _masked(self, value: str, *, as_json: bool) -> MaskedText:
        if isinstance(value, MaskedText):
            return value
        self._seen(value, as_json=as_json)
        done = self._done[value, as_json]
        for span in done.spans:
            self._hits[span.rule] = self._hits.get(span.rule, 0) + 1
        return done.text

    def _seen(self, value: str, *, as_json: bool = False) -> MaskedText:
        """Mask a text once, however often the run repeats it."""
        if isinstance(value, MaskedText):
            return value
        done = self._done.get((value, as_json))
        if done is None:
            done = self._done[value, as_json] = self._mask(value, as_json=as_json)
        return done.text

    def _look_again(self) -> None:
        """Mask anew each text that holds a secret which a later one gave away."""
        before = -1
        while before < self._known.count():
            before = self._known.count()
            for value, as_json in list(self._done):
                if self._known.may_be_in(self._done[value, as_json].text):
                    self._done[value, as_json] = self._mask(value, as_json=as_json)

    def _mask(self, value: str, *, as_json: bool) -> _Done:
        if self._is_harmless(value):
            return _Done(masked_text(value))
        try:
            return self._stable(value, as_json=as_json)
        except OutOfTimeError:
            return self._whole(value, "unscanned", as_json=as_json)
        except MaskingError:
            raise
        except Exception as error:
            # The message of another error may quote the text, so it does not go on.
            raise MaskingError(f"masking failed: {type(error).__name__}") from None

    def _is_harmless(self, value: str) -> bool:
        """Whether all that could be found in a text are the project's own rules and known values,
        and these are not. A tenth of a search; half of a run's texts are such.
        """
        # An id that is base64 of a text as well is read.
        is_id = ID.fullmatch(value) and decoded_text(value) is None
        if not (is_id or HARMLESS.fullmatch(value)):
            return False
        return not (self._options.own_rule_may_hit(value) or self._known.stands_in(value))

    def _stable(self, value: str, *, as_json: bool) -> _Done:
        """Mask until another pass finds nothing, so that masking the result changes nothing."""
        engine.load()  # outside the budget: the first load may compile the rules
        search = Search(Budget(len(value)), self._options, self._known)
        found = self._admitted(value, find(value, search))
        if not found.hits:
            return _Done(masked_text(value))
        hits = found.hits
        for _ in range(ROUNDS):
            placeholders = self._named(value, hits, search.budget)
            view = rendered(value, hits, quoted(placeholders, found.numbers))
            again = self._admitted(view.text, find(view.text, search)).hits
            if not again:
                spans = [MaskedSpan(h.start, h.end, h.rule, placeholders[h]) for h in hits]
                return _Done(masked_text(view.text), tuple(spans))
            more = [
                Hit(start, end, hit.rule, hit.family, hit.rank)
                for hit in again
                for start, end in view.to_raw(hit.start, hit.end)
            ]
            hits = widened(merged([*hits, *more]), found.numbers)
        return self._whole(value, "unstable", as_json=as_json)

    def _admitted(self, text: str, found: Found) -> Found:
        """What was found without what the project allows, numbers whole."""
        hits = found.hits
        if self._allowed:
            hits = [h for h in hits if not self._is_allowed(text[h.start : h.end])]
        return Found(widened(hits, found.numbers), found.numbers)

    def _is_allowed(self, value: str) -> bool:
        return self._key.allowed_digest(canonical(value)) in self._allowed

    def _named(self, value: str, hits: list[Hit], budget: Budget) -> dict[Hit, str]:
        """The placeholder of each hit; a secret seen before keeps its family."""
        placeholders = {}
        for count, hit in enumerate(hits):
            if count % 256 == 0:
                budget.check()
            secret = canonical(value[hit.start : hit.end])
            family = self._known.learn(secret, hit.family)
            placeholders[hit] = self._key.placeholder(family, secret)
        return placeholders

    def _whole(self, value: str, family: str, *, as_json: bool) -> _Done:
        """The text masked as a whole: it took too long, or does not come to rest."""
        placeholder = self._key.placeholder(family, value)
        text = f'"{placeholder}"' if as_json else placeholder
        return _Done(masked_text(text), (MaskedSpan(0, len(value), family, placeholder),))


def mask_spans(text: str) -> list[MaskedSpan]:
    """Where the secrets of `text` are; the placeholders' ids are of this call alone."""
    return Masker(key=secrets.token_bytes(32), project="", run="").spans(text)[1]
