"""Calling an author's function with the context names it asks for."""

from __future__ import annotations

import inspect
from types import CoroutineType, GeneratorType

# By the function's id, with the function itself so that the id stays its own. Filled before the fork: looking at a signature
# costs more than the call of a small function.
_known: dict = {}


class ContextParameters:
    """What a function's signature says about the context."""

    def __init__(self, function) -> None:
        parameters = inspect.signature(function).parameters
        self.function = function
        self.positional = [
            name
            for name, parameter in parameters.items()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        self.by_name = [
            name
            for name, parameter in parameters.items()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        ]
        self.takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


def remember(function) -> ContextParameters:
    """For functions that will be called in many processes forked from this one."""
    known = _known[id(function)] = ContextParameters(function)
    return known


def context_parameters(function) -> ContextParameters:
    known = _known.get(id(function))
    return known if known is not None and known.function is function else ContextParameters(function)


def context_arguments(function, args, kwargs, context) -> dict:
    """`kwargs` plus every context value the function names, or all of them for **kwargs."""
    wanted = context_parameters(function)
    taken = wanted.positional[: len(args)]
    names = context if wanted.takes_all else wanted.by_name
    found = {name: context[name] for name in names if name in context and name not in taken and name not in kwargs}
    found.update(kwargs)
    return found


def call_with_context(function, args, kwargs, context):
    """Calls, awaits a coroutine, and drives a generator, whose `yield Metadata(...)` describes outlet events."""
    result = function(*args, **context_arguments(function, args, kwargs, context))
    if isinstance(result, CoroutineType):
        import asyncio

        return asyncio.run(result)
    if isinstance(result, GeneratorType) and inspect.isgeneratorfunction(inspect.unwrap(function)):
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
