"""What spans repeat is kept once, and comes back as it was."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from transcripts.importers.spans.span import Event, Source, Span
from transcripts.services.span_texts import LEAST, LONGEST, Packer, pieces_of, unpacked

KEYS: dict[str, bytes] = {"key": b"k" * 32, "salt": b"s" * 16}

fillers = st.sampled_from(["a", "{}", "\n", "é😀", '{"role":"user","parts":[]},'])
texts = st.lists(st.tuples(fillers, st.integers(0, 900)), max_size=4).map(
    lambda parts: "".join(text * times for text, times in parts)
)
names = st.sampled_from(["input", "gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "a.1.b", ""])
values = st.one_of(texts, st.integers(-5, 5), st.lists(texts, max_size=2))
attributes = st.dictionaries(names, values, max_size=4)
spans = st.builds(
    Span,
    trace_id=st.just("ab" * 16),
    span_id=st.integers(1, 9).map(lambda n: f"{n:016x}"),
    attributes=attributes,
    events=st.lists(st.builds(Event, name=st.just("e"), attributes=attributes), max_size=3),
    source=st.builds(Source, resource=attributes),
)


@given(texts)
def test_pieces_are_the_text(text: str) -> None:
    pieces = list(pieces_of(text))

    assert "".join(pieces) == text
    assert all(len(piece) <= LONGEST for piece in pieces)


@given(texts, texts)
def test_the_pieces_of_a_beginning_stay(text: str, more: str) -> None:
    kept = list(pieces_of(text))[:-1]

    assert list(pieces_of(text + more))[: len(kept)] == kept


@given(st.lists(st.lists(spans, min_size=1, max_size=3), max_size=4), st.randoms())
def test_spans_come_back_from_chunks_in_any_order(
    parts: list[list[Span]], chance: random.Random
) -> None:
    bodies: list[bytes] = []
    known: list[bytes] = []
    for part in parts:
        body, learnt = Packer(**KEYS, known=known).pack(part)
        bodies.append(body)
        known.append(learnt)
    chance.shuffle(bodies)

    found = unpacked(bodies, **KEYS)

    assert sorted(map(msgspec.json.encode, map(in_order, found))) == sorted(
        msgspec.json.encode(in_order(span)) for part in parts for span in part
    )


def in_order(span: Span) -> Span:
    """The span with its attributes by name, whose order tells nothing."""
    return msgspec.structs.replace(span, attributes=dict(sorted(span.attributes.items())))


def dialects(history: list[dict[str, str]]) -> dict[str, Span]:
    flat = {
        f"llm.input_messages.{i}.message.{name}": value
        for i, message in enumerate(history)
        for name, value in message.items()
    }
    events = [Event("gen_ai.user.message", dict(message)) for message in history]
    told: dict[str, dict[str, Any]] = {
        "a list": {"gen_ai.input.messages": json.dumps(history)},
        "numbered": flat,
        "one text": {"input.value": "\n".join(message["content"] for message in history)},
    }
    found = {name: Span("t", "s", attributes=value) for name, value in told.items()}
    return found | {"events": Span("t", "s", events=events)}


def kept(rounds: int) -> dict[str, int]:
    """Bytes of a trace of that many rounds, each of which repeats the history, by dialect."""
    chance = random.Random(1)
    history: list[dict[str, str]] = []
    known: dict[str, list[bytes]] = {}
    sizes: dict[str, int] = {}
    for _ in range(rounds):
        words = ("".join(chance.choices("abcdefgh", k=6)) for _ in range(100))
        history.append({"role": "user", "content": " ".join(words)})
        for name, span in dialects(history).items():
            body, learnt = Packer(**KEYS, known=known.get(name, [])).pack([span])
            known.setdefault(name, []).append(learnt)
            sizes[name] = sizes.get(name, 0) + len(body) + len(learnt)
    return sizes


def test_a_repeated_history_takes_room_for_what_is_new_in_it() -> None:
    few, many = kept(20), kept(200)

    text = 200 * 700
    assert set(many) == {"a list", "numbered", "one text", "events"}
    for name, size in many.items():
        # The last piece of a text is kept anew where the text goes on.
        assert size < 11 * few[name], name
        assert size < 2 * text + 200 * LEAST, name
