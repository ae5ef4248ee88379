"""Hypothesis strategies for records, for every property test that needs a run."""

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import strategies as st

from transcripts.importers.fields import MAX_COUNT, json_text
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Opaque,
    Orphan,
    Placed,
    Received,
    Round,
    RunLimits,
    RunRecord,
    Stop,
    Tool,
)

# Any character that a column can hold, the hostile ones more often than chance would.
CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
HOSTILE = st.sampled_from(
    ["<script>", "{{ x }}", "\u202e", "\r\n", "\x1b[2J", '"', "\\", "\\u00e9", "\u2028", "😀", " "]
)
texts = st.one_of(st.text(CHARACTERS, max_size=20), st.lists(HOSTILE, max_size=3).map("".join))
names = st.text(CHARACTERS, min_size=1, max_size=12)
counts = st.one_of(st.none(), st.integers(0, MAX_COUNT))
milliseconds = st.one_of(st.none(), st.floats(0, 1e12))
moments = st.one_of(
    st.none(),
    st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
costs = st.one_of(st.none(), st.decimals(0, Decimal(10) ** 12 - 1, places=8))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
args = st.one_of(st.dictionaries(names, json_values, max_size=3).map(json_text), texts)
opaques = st.builds(Opaque, kind=names, body=texts)
opaque_parts = st.lists(opaques, max_size=2).map(tuple)
calls = st.builds(
    Call,
    name=texts,
    args=args.filter(lambda text: "\\u" not in text),
    result=st.none() | texts,
    is_error=st.none() | st.booleans(),
    id=texts,
    duration_ms=milliseconds,
    joined=st.sampled_from(["", "id", "name", "order"]),
    sub_run=texts,
)
orphans = st.builds(Orphan, call_id=texts, content=texts)
tools = st.builds(Tool, name=names, description=texts, schema=args.filter(bool) | st.just(""))


@st.composite
def messages(draw: st.DrawFn) -> tuple[Message, ...]:
    """Messages with keys of their own; some repeat a reply or a result."""
    kinds = draw(st.lists(st.sampled_from(["text", "reply", "result"]), max_size=6))
    found = []
    for index, kind in enumerate(kinds):
        named = draw(st.booleans())
        if kind == "text":
            found.append(
                Message(
                    f"m{index}",
                    draw(names),
                    draw(texts),
                    draw(texts),
                    opaque=draw(opaque_parts),
                    call_id=draw(texts),
                    named=named,
                )
            )
        elif kind == "reply":
            number = draw(st.integers(1, 9))
            found.append(Message(f"m{index}", "assistant", reply_of=number, named=named))
        else:
            place = (draw(st.integers(1, 9)), draw(st.integers(0, 3)))
            found.append(Message(f"m{index}", "tool", draw(texts), result_of=place, named=named))
    return tuple(found)


def changes(keys: list[str]) -> st.SearchStrategy[InputChange | None]:
    """Input changes over some message keys, at ascending positions or at the end."""
    if not keys:
        return st.sampled_from([None, InputChange(), InputChange(whole=True)])
    placed = st.builds(Placed, st.sampled_from(keys), st.none() | st.integers(0, 5))
    side = st.lists(placed, max_size=3).map(
        lambda found: tuple(sorted(found, key=lambda p: -1 if p.at is None else p.at))
    )
    return st.none() | st.builds(InputChange, added=side, dropped=side, whole=st.booleans())


@st.composite
def runs(draw: st.DrawFn) -> RunRecord:
    """Whole records: every field filled somehow, rounds ascending and possibly with gaps."""
    read = draw(messages())
    keys = [message.key for message in read]
    numbers = sorted(draw(st.sets(st.integers(1, 9), max_size=5)))
    return RunRecord(
        run_id=draw(names),
        rounds=tuple(draw(rounds(number, keys)) for number in numbers),
        messages=read,
        tools=tuple(draw(st.lists(tools, max_size=2))),
        ticket_id=draw(texts),
        title=draw(texts),
        agent=draw(texts),
        provider=draw(texts),
        model=draw(texts),
        prompt_version=draw(texts),
        code_version=draw(texts),
        started_at=draw(moments),
        ended_at=draw(moments),
        ending=draw(st.none() | st.sampled_from(Ending)),
        ending_reason=draw(texts),
        currency=draw(st.sampled_from(["", "INR", "USD"])),
        context_window=draw(counts),
        limits=draw(
            st.builds(
                RunLimits,
                rounds=st.none() | st.integers(1, MAX_COUNT),
                seconds=st.none() | st.floats(0, 1e12),
                cost=costs,
            )
        ),
        labels=draw(st.dictionaries(names, texts, max_size=2)),
        parent_run_id=draw(texts),
        format=draw(names),
        notes=tuple(draw(st.lists(texts, max_size=2))),
        rounds_expected=draw(counts),
        received=draw(st.builds(Received, *(st.integers(0, MAX_COUNT) for _ in range(3)))),
    )


def rounds(number: int, keys: list[str]) -> st.SearchStrategy[Round]:
    """One round of that number over those message keys."""
    return st.builds(
        Round,
        number=st.just(number),
        stop=st.sampled_from(Stop),
        stop_raw=st.none() | texts,
        reply=texts,
        reasoning=texts,
        calls=st.lists(calls, max_size=2).map(tuple),
        input=changes(keys),
        tokens_in=counts,
        tokens_out=counts,
        tokens_cached=counts,
        tokens_reasoning=counts,
        cost=costs,
        model=texts,
        started_at=moments,
        duration_ms=milliseconds,
        error=texts,
        orphans=st.lists(orphans, max_size=1).map(tuple),
        opaque=opaque_parts,
        key=st.just("") | names.map(lambda name: f"{number}{name}"),
    )
