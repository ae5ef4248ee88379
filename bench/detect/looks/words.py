"""Texts that speak of errors: documents, records, lists and good news."""

from __future__ import annotations

import json

from bench.detect.looks import look
from bench.detect.world import World


@look("coding")
def source_code(world: World) -> None:
    """Code that raises errors is read, not run."""
    for text in world.rng.sample(world.pool["documents"]["code"], 2):
        world.add(world.call("doc", world.rng.choice(world.pool["modules"]), text.strip()))


@look("research")
def article_on_errors(world: World) -> None:
    for text in world.rng.sample(world.pool["documents"]["articles"], 2):
        link = f"https://library.test/{world.rng.randrange(10_000)}"
        world.add(world.call("doc", link, text.strip()))


@look("ops")
def log_with_errors(world: World) -> None:
    for text in world.pool["documents"]["logs"]:
        world.add(world.call("doc", world.words["service"], text.strip()))


@look()
def speaks_of_no_error(world: World) -> None:
    """Good news in the words of bad news, and numbers that look like status codes."""
    for text in world.rng.sample(world.pool["results"]["no_errors"], 2):
        world.add(world.call("device", world.new_id(), text))


@look("helpdesk", "ops")
def hits_on_errors(world: World) -> None:
    """Help articles about errors are what was searched for."""
    hits = world.shuffled(world.pool["results"]["error_hits"])
    world.add(world.call("search", f"{world.words['thing']} message", "\n\n".join(hits)))


@look("helpdesk", "booking")
def record_about_an_error(world: World) -> None:
    """A ticket that tells of an error is read, and reading it went well."""
    text = world.rng.choice(world.pool["results"]["error_records"])
    world.add(world.call("person", world.new_id(), text))


@look()
def failures_as_data(world: World) -> None:
    """A list in which one entry failed: the call itself went well."""
    rows = [
        {"job": world.new_id(), "status": status, "error_count": count}
        for status, count in (("passed", 0), ("failed", 3), ("passed", 0))
    ]
    body = json.dumps({"jobs": rows, "error": None}, ensure_ascii=False)
    world.add(world.call("device", world.new_id(), body))


@look()
def zero_in_words(world: World) -> None:
    """A search that says in words that there is nothing, then one with other words."""
    zero = world.rng.choice(world.pool["results"]["zero"])
    world.add(world.call("search", f"{world.words['thing']} {world.new_id()}", zero))
    world.add(world.call("search", world.words["thing"], world.hits()))


@look()
def long_but_bearable(world: World) -> None:
    facts = world.pool["results"]["facts"]
    text = "\n".join(f"{i}. {world.rng.choice(facts)}" for i in range(150))
    call = world.call("search", world.words["topic"], text)
    call.duration_ms = 25_000
    world.add(call)
