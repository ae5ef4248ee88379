"""Takes out of a run what a new assembly of it no longer says."""

from __future__ import annotations

import json

from django.db.models import Count, Q, Sum

from transcripts.models import Message, Round, Run
from transcripts.record import RunRecord
from transcripts.services import rows
from transcripts.services.text_index import run_text_forget
from transcripts.services.totals import sum_again

_READ = "SELECT number, added FROM transcripts_round WHERE run_id = %s"
_GONE = (
    "DELETE FROM transcripts_toolcall WHERE run_id = %s AND round_number > %s",
    "DELETE FROM transcripts_round WHERE run_id = %s AND number > %s",
    # Their text stood in the rounds; where it is still read, it comes again.
    "DELETE FROM transcripts_message WHERE run_id = %s AND greatest(reply_of, result_round) > %s",
)


def forget_unsaid(*, run: Run, record: RunRecord) -> None:
    """Drop the rounds after the last of `record`, notes that it does not repeat, and an ending that
    it does not say. The caller holds the run's lock, and saves it.
    """
    last = record.rounds[-1].number if record.rounds else 0
    if last < run.last_round:
        _cut(run, last)
    if sorted({*record.notes}) != list(run.notes):
        run.notes = []
        # So that the header is written again.
        run.header_digest = b""
    if record.ending is None and run.ending_said:
        run.ending_said = False
        run.ending_reason = ""
        run.header_digest = b""


def _cut(run: Run, last: int) -> None:
    read: dict[bool, set[str]] = {True: set(), False: set()}
    for number, added in rows.fetch(_READ, (run.pk,)):
        read[number <= last] |= {ident for _, ident in json.loads(added)}
    for sql in _GONE:
        rows.execute(sql, (run.pk, last))
    Message.objects.filter(run=run, ident__in=read[False] - read[True], key="").delete()
    run_text_forget(run=run, after=last)
    kept = Round.objects.filter(run=run).aggregate(
        rounds=Count("number"),
        calls=Sum("call_count", default=0),
        unanswered=Sum("unanswered", default=0),
        unlabelled=Count("number", filter=Q(stop_raw=None)),
    )
    run.round_count, run.last_round = kept["rounds"], last
    run.call_count, run.unanswered = kept["calls"], kept["unanswered"]
    run.unlabelled = kept["unlabelled"]
    run.orphan_count = sum(
        len(orphans) for orphans in Round.objects.filter(run=run).values_list("orphans", flat=True)
    )
    run.tail_size = None
    run.completeness = {"gaps": [], "rounds_expected": last}
    sum_again(run=run)
