"""What a tool is for, as its name tells: reads, changes, hands off, finishes, runs programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.words import word_set
from transcripts.endings import finishes, hands_off

READ_VERBS = word_set(
    """
    get list search find read fetch check query look lookup view show describe count status
    calculate compute browse cat ls grep glob retrieve select inspect verify validate is has
    test ping whoami diff monitor watch poll wait preview summarize translate classify open
    load scan see tail head peek probe measure compare analyze analyse extract parse
    estimate detect recall explore navigate download crawl scrape resolve_name stat info
    print pull dump sample summary history overview details who what when where which trace
    track locate identify match suggest recommend rank score evaluate assess audit review
    observe enumerate
    """
)
CHANGE_VERBS = word_set(
    """
    set reset update create delete remove add insert write edit patch put post send email
    mail notify cancel book modify change return exchange refund pay charge transfer assign
    unassign close reopen restart start stop enable disable activate deactivate grant revoke
    unlock lock approve reject install uninstall deploy merge commit push upload move rename
    copy save store register unregister schedule reschedule resolve apply submit replace
    append make provision release attach detach subscribe unsubscribe archive restore rotate
    reboot kill order purchase buy sync publish reply comment tag label issue complete emit
    trigger clear purge drop truncate upsert configure renew extend adjust rollback repair
    fix reserve scale resize pause resume mark flag reassign transition promote demote ban
    unban block unblock confirm accept decline invite join leave connect disconnect migrate
    import swap redeem upgrade downgrade rebook bill credit debit withdraw deposit toggle
    switch record raise escalate reprovision deprovision bump drain cordon rerun retry
    requeue fire dispatch ship hold park allocate deallocate amend correct revert undo redo
    rewrite erase wipe flush expire invalidate evict throttle mute unmute snooze ack
    acknowledge dismiss silence page ring dial sms share unshare hire onboard offboard
    enroll enrol unenroll admit discharge prescribe waive void settle capture authorize
    authorise topup trade vote follow unfollow pin unpin fork rebase unpublish export backup
    mount unmount link unlink bind unbind reroute shut lower increase decrease increment
    decrement grow shrink expand halt suspend unsuspend freeze unfreeze power boot shutdown
    wake rollout setup init initialize initialise reconfigure tune alter shift relocate
    forward redirect sign lodge claim reclaim
    """
)
# Verbs that name a thing as often: `mail_search` searches, `mail` sends.
ALSO_NOUNS = word_set(
    """
    order book mail email note record file log post message comment report issue ticket charge
    schedule label tag store bill credit invite flag mark scale count status info test set print
    stat look view map page link share process sample summary history overview details review
    audit score match trace track rank claim sign vote trade power dump pull tail head release
    purchase
    """
)
# Tools that run programs or commands: alone ("bash", "run"), or as what is run ("execute_command").
EXECUTORS = word_set(
    """
    bash sh shell exec execute run python ipython terminal command cmd powershell console
    repl jupyter sandbox code interpreter script cell
    """
)
DOCUMENT_WORDS = word_set(
    """
    read cat open view file search grep find article articles document documents doc docs
    page web browse fetch url wiki wikipedia log logs knowledge kb scrape crawl retrieve
    email emails mail message messages thread ticket issue comment comments history
    transcript note notes source snippet rag content goto visit navigate scroll alert alerts
    incident incidents case cases event events report reports review reviews feedback post posts
    chat conversation summary answer
    """
)
# Tools that take a note, and commands that say nothing when they worked.
SILENT_WORDS = word_set(
    """
    think thinking thought reason plan note notes scratchpad reflect rm mkdir touch cp mv cd
    chmod sleep wait pass noop
    """
)
# Words of a name that are no thing of the world.
_NO_THINGS = word_set(
    """
    by for of the a an in on to with from all my new current details detail info information status
    data id ids name type tool action do perform state result results list get set many one
    """
)

_NAMESPACE = Pattern(r"^(?:mcp__[^_]+(?:_[^_]+)*__|functions?[.:]|tools?[.:/]|default_api[.:])")
_PIECES = Pattern(r"[A-Z]+[a-z]*|[a-z]+|\d+|[^\x00-\x7f]+")


class Effect(StrEnum):
    """Whether a tool reads the world or changes it; `EITHER` where its name does not tell."""

    READS = "reads"
    CHANGES = "changes"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class ToolNature:
    """What a tool's name tells. `family` is what tools for one purpose share; `things` are its
    nouns.
    """

    words: tuple[str, ...]
    effect: Effect
    family: str
    things: frozenset[str]
    executor: bool
    document: bool
    hands_off: bool
    finishes: bool
    silent: bool


def words_of(name: str) -> tuple[str, ...]:
    """The words of a tool's name, lower case, without its namespace: `mcp__hub__getUser` is get,
    user.
    """
    bare = str(_NAMESPACE.sub("", name[:200]))
    return tuple(piece.lower() for piece in _PIECES.findall(bare))


def _verb_in(name: str) -> str:
    """The first verb of the name's last part (`mailbox.update_state`: update), else of it all."""
    last = name[:200].replace("::", ".").replace("/", ".").rsplit(".", 1)[-1]
    verbs = [
        word
        for words in (words_of(last), words_of(name))
        for word in words
        if word in READ_VERBS or word in CHANGE_VERBS
    ]
    return next((verb for verb in verbs if verb not in ALSO_NOUNS), verbs[0] if verbs else "")


@lru_cache(maxsize=4096)
def nature_of(name: str) -> ToolNature:
    """Read the nature of a tool off its name."""
    words = words_of(name)
    known = set(words)
    first = _verb_in(name)
    executor = bool(words) and all(
        word in EXECUTORS or word in {"in", "the", "block"} for word in words
    )
    handed = hands_off(name[:200])
    if executor and not first:
        effect = Effect.EITHER
    elif first in READ_VERBS and first not in CHANGE_VERBS:
        effect = Effect.READS
    elif first in CHANGE_VERBS:
        effect = Effect.CHANGES
    else:
        effect = Effect.EITHER
    ends = finishes(name[:200])
    return ToolNature(
        words=words,
        effect=effect,
        family="_".join(words[:2]) if len(words) > 1 else (words[0] if words else name),
        things=frozenset(
            _singular(word) for word in words if word != first and word not in _NO_THINGS
        ),
        executor=executor,
        document=effect != Effect.CHANGES and bool(known & DOCUMENT_WORDS),
        hands_off=handed,
        finishes=ends,
        silent=bool(words) and (words[0] in SILENT_WORDS or executor or ends or handed),
    )


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
