"""Calling an author's function with the context names it asks for."""

from __future__ import annotations

import inspect


def context_arguments(function, args, kwargs, context) -> dict:
    """`kwargs` plus every context value the function names, or all of them for **kwargs."""
    signature = inspect.signature(function)
    parameters = signature.parameters
    positional = [
        name
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    taken = set(positional[: len(args)])
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        extra = {key: context[key] for key in context if key not in taken}
        return {**extra, **kwargs}
    wanted = {
        name: context[name]
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and name in context
        and name not in taken
    }
    return {**wanted, **kwargs}


def call_with_context(function, args, kwargs, context):
    """Calls, awaits a coroutine, and drives a generator, whose `yield Metadata(...)` describes outlet events."""
    result = function(*args, **context_arguments(function, args, dict(kwargs), context))
    if inspect.iscoroutine(result):
        import asyncio

        return asyncio.run(result)
    if inspect.isgenerator(result) and inspect.isgeneratorfunction(inspect.unwrap(function)):
        return _drive(result, context)
    return result


def _drive(generator, context):
    import logging

    from ..record.assets import Metadata

    while True:
        try:
            item = next(generator)
        except StopIteration as end:
            return end.value
        if isinstance(item, Metadata):
            context["outlet_events"].note(item)
        else:
            kind = type(item).__name__
            logging.getLogger("task").warning("Ignoring a %s that the task yielded; only Metadata is expected", kind)
