"""A real model, asked through a function that the user gives."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Callable, Mapping
from typing import Any


def with_known(function: Callable[..., Any], messages: Any, given: Mapping[str, Any]) -> Any:
    """Call a model function with the messages and those of `given` that it has parameters for."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return settled(function(messages))
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    names = {p.name for p in list(parameters)[1:]}
    known = {name: value for name, value in given.items() if takes_all or name in names}
    return settled(function(messages, **known))


def settled(value: Any) -> Any:
    """The result of a coroutine; where a loop already runs here, in a thread with its own."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()
