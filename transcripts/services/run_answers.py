"""Joins results that came as messages of a later round to the calls that they answer.

An importer does so within a record. Here it is done across deliveries, whichever of the two came
first.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.calls import mcp_flag
from transcripts.models import Run
from transcripts.services import rows
from transcripts.services.run_messages import MessageChanges
from transcripts.services.run_rounds import RoundChanges

# Of several unanswered calls of one id the last; of several messages that answer it always the
# same.
_ANSWERS = """
SELECT DISTINCT ON (c.call_id) c.round_number, c.index, m.ident, m.digest, m.content
FROM transcripts_toolcall c
JOIN transcripts_message m ON m.run_id = c.run_id AND m.call_id = c.call_id
WHERE c.run_id = %s AND c.result IS NULL AND c.call_id <> ''
  AND m.reply_of IS NULL AND m.result_round IS NULL AND m.digest <> ''
ORDER BY c.call_id, c.round_number DESC, c.index DESC, m.ident
"""
_ANSWER = """
UPDATE transcripts_toolcall c
SET result = v.content, result_digest = v.digest, is_error = v.is_error, joined = 'id'
FROM json_to_recordset(%s::json)
     AS v(number integer, index integer, digest text, content text, is_error boolean)
WHERE c.run_id = %s AND c.round_number = v.number AND c.index = v.index
"""
_ANSWERED = """
UPDATE transcripts_round r SET unanswered = unanswered - v.count
FROM (SELECT number, count(*) FROM json_to_recordset(%s::json) AS w(number integer) GROUP BY 1) v
WHERE r.run_id = %s AND r.number = v.number
"""
_REPEATS = """
UPDATE transcripts_message m
SET content = '', name = '', opaque = '[]', call_id = '',
    result_round = v.number, result_index = v.index
FROM json_to_recordset(%s::json) AS v(ident text, number integer, index integer)
WHERE m.run_id = %s AND m.ident = v.ident
"""


def join_answers(*, run: Run, changes: RoundChanges, messages: MessageChanges) -> int:
    """Answer the run's unanswered calls with messages that carry their id; returns how many.

    The caller has written rounds and messages, and saves the run.
    """
    asks = any(
        call.result is None and call.id
        for number in changes.written
        for call in changes.arrived.rounds[number].calls
    )
    tells = any(message.call_id for message, _ in messages.whole.values())
    if not run.unanswered or not (tells or (asks and run.has_messages)):
        return 0
    found: list[dict[str, Any]] = [
        {
            "number": number,
            "index": index,
            "ident": ident,
            "digest": digest,
            "content": content,
            "is_error": mcp_flag(content),
        }
        for number, index, ident, digest, content in rows.fetch(_ANSWERS, (run.pk,))
    ]
    if not found:
        return 0
    answers = rows.json_of(found)
    writes = rows.Writes(run.pk)
    for sql in (_ANSWER, _ANSWERED, _REPEATS):
        writes.add(sql, (answers, run.pk))
    writes.send()
    run.unanswered -= len(found)
    return len(found)
