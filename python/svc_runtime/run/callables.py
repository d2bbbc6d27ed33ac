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
        self.names = frozenset(parameters)
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


def merge_into_context(context, op_kwargs, *, templates_dict=None) -> None:
    """Arguments of a function have names in the context, too: map_index_template and callbacks may use them, as on Airflow."""
    if templates_dict is not None:
        context["templates_dict"] = templates_dict
    if any(name in context for name in op_kwargs):
        # Values that are made of others (ds of logical_date) must not be made of an argument of that name.
        len(context)
    context.update(op_kwargs)


def context_arguments(function, args, kwargs, context) -> dict:
    """Every context value and every one of `kwargs` that the function names, or all of them for **kwargs.

    `kwargs` win over the context. Those that the function does not name are dropped, as on Airflow: a dict of settings can
    be shared by functions that each take some of them.
    """
    wanted = context_parameters(function)
    taken = wanted.positional[: len(args)]
    names = context if wanted.takes_all else wanted.by_name
    found = {name: context[name] for name in names if name in context and name not in taken and name not in kwargs}
    for name, value in kwargs.items():
        if wanted.takes_all or name in wanted.names:
            found[name] = value
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
