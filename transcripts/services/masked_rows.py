"""Masks what is stored of a run once more: what a later delivery gave away, or all of it under the
rules of now.

What is stored is masked text already, so nothing can be unmasked by it. Digests of the content as
it came stay as they are, so that sending it again still changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from django.db import models

from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.masking import Masker
from transcripts.masking.types import MaskedText
from transcripts.models import Delivery, Run
from transcripts.services.masked_names import names_follow, names_of
from transcripts.services.text_index import run_text_forget

Mask = Callable[[MaskedText, bool], MaskedText]
# What holds JSON as text, by model and field, or by the member of a JSON column.
JSON_TEXTS = frozenset({("toolcall", "args")})
JSON_MEMBERS = frozenset({"body", "schema"})
ROWS_AT_ONCE = 500


def earlier_rows_mask(*, run: Run, masker: Masker) -> int:
    """Mask in the rows of a run what `masker` learned since they were written; returns how many
    texts changed. Needs the transaction that holds the run's lock; the caller saves the run.
    """
    changed, known = 0, 0
    # What is masked may give away more.
    while known < masker.news:
        known = masker.news
        changed += _mask_all(run, lambda text, as_json: masker.caught_up(text, as_json=as_json))
    if changed:
        run_text_forget(run=run)
    return changed


def run_mask_again(*, run: Run, masker: Masker) -> int:
    """Mask all of a run once more under the masker's rules; returns how many texts changed.

    Needs the transaction that holds the run's lock. Saves the run, with the receipt.
    """
    masker.look_through(text for _, texts in _rows(run) for text in texts)
    changed = _mask_all(run, lambda text, as_json: _masked(masker, text, as_json))
    if changed:
        run_text_forget(run=run)
    keep_receipt(run=run, masker=masker, all_of_it=True)
    run.save()
    return changed


def keep_receipt(*, run: Run, masker: Masker, all_of_it: bool) -> None:
    """Put on the run what masking did. Where some of its rows were not masked now, the run keeps
    the older rule set's name: no more can be promised of all of it.
    """
    receipt = masker.receipt
    hits = dict(run.mask_hits)
    for rule, count in receipt.hits.items():
        hits[rule] = hits.get(rule, 0) + count
    run.mask_hits = dict(sorted(hits.items()))
    if all_of_it or not run.mask_rule_set:
        run.mask_rule_set = receipt.rule_set
    run.mask_known = dict(masker.known)


def run_texts(run: Run) -> Iterator[tuple[MaskedText, bool]]:
    """Every text of the transcript itself, with whether it is JSON text."""
    for model, texts in _rows(run):
        if model._meta.app_label == Run._meta.app_label:
            yield from texts


def _masked(masker: Masker, text: MaskedText, as_json: bool) -> MaskedText:
    plain = str.__str__(text)
    return masker.json_text(plain) if as_json else masker.text(plain)


def _mask_all(run: Run, mask: Mask) -> int:
    """Apply `mask` to every text of the run; writes the rows in which one changed, and no others.

    The run's own texts are changed on `run`, which the caller saves.
    """
    changed = 0
    for model, way in _places():
        fields = _text_fields(model)
        rows = model._default_manager.filter(**{way: run}).values_list("pk", *fields).order_by()
        for pk, *values in list(rows.iterator(ROWS_AT_ONCE)):
            news = _changes(model, dict(zip(fields, values, strict=True)), mask)
            if news:
                model._default_manager.filter(pk=pk).update(**news)
                changed += len(news)
    told, names = run.run_id, names_of(run)
    own = _changes(Run, {name: getattr(run, name) for name in _text_fields(Run)}, mask)
    for name, value in own.items():
        setattr(run, name, value)
    if run.run_id != told:
        _rename_in_deliveries(run)
    renamed = {old: new for old, new in zip(names, names_of(run), strict=True) if old != new}
    names_follow(project_id=run.project_id, renamed=renamed)
    return changed + len(own)


def _rows(run: Run) -> Iterator[tuple[type[models.Model], list[tuple[MaskedText, bool]]]]:
    for model, way in _places():
        names = _text_fields(model)
        rows = model._default_manager.filter(**{way: run}).values_list(*names).order_by()
        for values in rows.iterator(ROWS_AT_ONCE):
            yield model, _texts(model, dict(zip(names, values, strict=True)))
    yield Run, _texts(Run, {name: getattr(run, name) for name in _text_fields(Run)})


@cache
def _places() -> tuple[tuple[type[models.Model], str], ...]:
    """The models whose rows are made of a run's texts, with the way from them to the run.

    What belongs to a run, or to what belongs to it, of either app; and what such rows point to,
    such as the incident that a run is in.
    """
    found: dict[type[models.Model], str] = {}
    _add_below(Run, "", found)
    pointing = list(found.items())
    for model, way in pointing:
        for field in model._meta.concrete_fields:
            if not isinstance(field, models.ForeignKey):
                continue
            parent = field.related_model
            if parent is not Run and parent not in found and _text_fields(parent):
                found[parent] = f"{field.related_query_name()}__{way}"
                _add_below(parent, found[parent], found)
    told = [(model, way) for model, way in found.items() if _text_fields(model)]
    return tuple(sorted(told, key=lambda place: place[0]._meta.label))


def _add_below(model: type[models.Model], way: str, found: dict[type[models.Model], str]) -> None:
    for relation in model._meta.related_objects:
        child = relation.related_model
        if relation.one_to_many or relation.one_to_one:
            if child is Run or child in found:
                continue
            found[child] = f"{relation.field.name}__{way}" if way else relation.field.name
            _add_below(child, found[child], found)


@cache
def _text_fields(model: type[models.Model]) -> tuple[str, ...]:
    kinds = (MaskedTextField, MaskedJSONField)
    return tuple(field.name for field in model._meta.concrete_fields if isinstance(field, kinds))


def _changes(model: type[models.Model], row: dict[str, Any], mask: Mask) -> dict[str, Any]:
    """What of a row `mask` changes, by field."""
    news = {}
    for name, value in row.items():
        as_json = (model._meta.model_name, name) in JSON_TEXTS
        new = _mapped(value, mask, as_json=as_json)
        if new != value:
            news[name] = new
    return news


def _texts(model: type[models.Model], row: dict[str, Any]) -> list[tuple[MaskedText, bool]]:
    found: list[tuple[MaskedText, bool]] = []

    def note(text: MaskedText, as_json: bool) -> MaskedText:
        found.append((text, as_json))
        return text

    _changes(model, row, note)
    return found


def _mapped(value: Any, mask: Mask, *, as_json: bool = False) -> Any:
    if isinstance(value, MaskedText):
        return mask(value, as_json) if value else value
    if isinstance(value, dict):
        return {
            name: _mapped(part, mask, as_json=name in JSON_MEMBERS) for name, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_mapped(part, mask) for part in value]
    return value


def _rename_in_deliveries(run: Run) -> None:
    """Tell the run's new name in the outcomes that name it. Rare: an id that holds a secret."""
    told = Delivery.objects.filter(
        project=run.project_id, outcome__contains={"runs": [{"pk": run.pk}]}
    )
    for delivery in told.only("outcome"):
        for each in delivery.outcome["runs"]:
            if each["pk"] == run.pk:
                each["run_id"] = run.run_id
        delivery.save(update_fields=["outcome"])
