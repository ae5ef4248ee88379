from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.failure_words import NO_SUCH_TOOL
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.tools import Effect
from analysis.detectors.reading.words import quoted, word_set
from analysis.places import Place
from transcripts.record import Stop

_CLAIMS = Pattern(
    r"(?i)\b(?:done|completed?|success(?:ful(?:ly)?)?|all set|fixed|resolved|finished"
    r"|taken care of|ready|sorted|"
    r"(?:has|have|is|are|was|were|been|i|i've|we|we've"
    r"|ve) (?:now )?(?:been )?(?:now )?(?:successfully )?(?:re)?(?:set|done|"
    r"sent|updated|created|deleted|removed|cancell?ed|booked|changed|saved|closed|restarted"
    r"|enabled|disabled|unlocked|"
    r"assigned|added|scheduled|submitted|applied|restored|installed|deployed|processed"
    r"|refunded|issued|granted|"
    r"approved|moved|written|modified|published|ordered|paid)|"
    r"(?:should|will) (?:now )?(?:be able|work|be working))\b|"
    r"\b(?:i|we) (?:have )?(?:made|did|set|reset|sent|updated|created|changed|saved|closed"
    r"|cancell?ed|booked|fixed|"
    r"applied|added|removed|wrote|moved|enabled|disabled|unlocked|restarted|assigned|scheduled"
    r"|submitted) |"
    r"(?:settled|stored)\b|now (?:shows|says|has|works)|you will (?:see|find|get)|in place|"
    r"erledigt|erfolgreich|wurde|eingetragen|geändert|terminé|effectué|c['\x{2019}]est fait"
    r"|enregistrée?|modifiée?|"
    r"completado|hecho|resuelt|aplicad|resolvid|feita|alterad|listo|realizado|guardad|cambiad"
    r"|concluído|feito|realizad|fatto"
    r"|completato|eseguit|"
    r"klaar|voltooid|gereed|klart|færdig|gotowe|wykonano|hotovo|tamamland\x{131}|selesai"
    r"|hoàn (?:thành|tất)|"
    r"готово|выполнен|сделано|изменен|处理完毕|已(?:经)?(?:完成|处理|更改|生效|修改|更新)|完成|完了|変更しました|しました|완료"
    r"|했습니다|हो गया|تم "
)
_ADMITS = Pattern(
    r"(?i)\b(?:unable|unfortunately|sorry|apologi[sz]e|fail\w*|error|denied|cannot|(?:could"
    r"|can|did|was|were|has|have|is|do|"
    r"does)(?: ?not|n['\x{2019}]t)|not (?:been )?(?:able|possible|completed|done|successful)"
    r"|without success|"
    r"escalat\w*|hand(?:ed|ing)? (?:over|off)|transferr\w*|permission|unsuccessful"
    r"|manual(?:ly)?|problem|issue (?:with|while))\b|"
    r"leider|nicht|désolé|malheureusement|impossible|lo siento|no (?:pude|se pudo)|não"
    r"|purtroppo|无法|できません"
)


@detector(version=1, severity=Severity.LEAD, odd=False, rank=90)
def claimed_success(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Claimed success.

    The last reply says that it is done, though the tool that should have done it never worked.

    Why it matters: the ticket is closed and the person's problem is still there.
    Stays silent: where the reply admits the failure, a person spoke after it, the tool worked in
    the end, or another change worked after it.
    Yields: one finding, at the last reply; its evidence is the last call of the tool.
    Likely cause: the failure does not look like one to the model.
    Fix in code: let failing tools say so; before a run may finish, check in code that what it
    claims is so.
    Source: MAST failure mode "no or incorrect verification"; Datus-agent#1245.
    """
    if not reading.rounds:
        return
    last = reading.rounds[-1]
    text = last.reply[-4_000:]
    if last.stop != Stop.FINISHED or not text or _CLAIMS.search(text) is None:
        return
    if _ADMITS.search(text) is not None:
        return
    broken = _never_worked(reading)
    if broken is None or any(number > broken.round for number in reading.heard):
        # Whoever spoke to the agent since then knows, and the claim may be about something else.
        return
    what = "failed" if broken.failed else "returned nothing"
    if any(found.change.key == broken.key for found in reading.no_effects):
        what = "had no effect"
    yield Draft(
        at=Place(last.number),
        why=f"The last reply says {quoted(text, 90)}, but {broken.name} {what} and never worked.",
        brief=f"says done though {broken.name} never worked",
        tool=broken.name,
        evidence=(broken.place,),
        values={"error": "claimed success", "needed": broken.name},
    )


# Tools that tell of a thing and do not do it: that a note was written makes up for nothing.
_TELLING = word_set(
    """
    note notes comment comments log entry mail email message notify notification reply post
    """
)


def _never_worked(reading: Reading) -> CallReading | None:
    """The last call of a tool for changes that never worked, with no change that did in its
    place.
    """
    disproved = {found.change.key for found in reading.no_effects if found.settled_at is None}
    broken: dict[str, CallReading] = {}
    worked: set[str] = set()
    for call in reading.calls:
        if call.effect != Effect.CHANGES or call.nature.hands_off or call.nature.finishes:
            continue
        if call.error is not None and NO_SUCH_TOOL.search(call.error) is not None:
            continue
        if call.came_to_nothing or call.key in disproved:
            broken[call.name] = call
            continue
        worked.update((call.name, call.nature.family))
        if not _TELLING & set(call.nature.words):
            broken = {name: each for name, each in broken.items() if not _in_its_place(call, each)}
    left = [each for each in broken.values() if not {each.name, each.nature.family} & worked]
    return max(left, key=lambda each: each.seq, default=None)


def _in_its_place(call: CallReading, broken: CallReading) -> bool:
    """Whether `call` may have done what `broken` did not: it is about the same kind of thing."""
    mine, its = call.nature.things, broken.nature.things
    return not mine or not its or bool(mine & its)
