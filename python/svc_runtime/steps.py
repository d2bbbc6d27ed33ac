"""`from svc import step`: the result of a function is kept with the task instance and not computed again by a later try.

    call ─▶ name and arguments ─▶ state store ─┬─ found ─▶ result
                                               └─ none ──▶ function ─▶ state store ─▶ result

A step whose process dies before its result is stored runs again, so what it does outside must bear a repetition. A person who
clears the task removes the results (STEP_PREFIX in packages/server/db/task-instances/task-states.ts).
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

_PREFIX = "svc.step:"
_MAX_NAME = 400


def step(
    function: _Function | None = None,
    *,
    name: str | None = None,
    key: Callable[..., Any] | None = None,
    retention: timedelta | None = None,
):
    """Decorator. `name`: instead of that of the function. `key`: called with the arguments, returns what tells calls apart.
    `retention`: as in `task_state_store.set`."""
    if function is None:
        return lambda given: step(given, name=name, key=key, retention=retention)
    if not callable(function):
        raise TypeError(f"@step decorates a function, not a {type(function).__name__}: @step(name='…') takes a name")
    kept = _Step(function, name or function.__qualname__.replace("<locals>.", ""), key, retention)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(*args, **kwargs):
            found, place, store = kept.look(args, kwargs)
            if found is not None:
                return found[0]
            result = await function(*args, **kwargs)
            kept.keep(store, place, result)
            return result

        return call_async

    @functools.wraps(function)
    def call(*args, **kwargs):
        found, place, store = kept.look(args, kwargs)
        if found is not None:
            return found[0]
        result = function(*args, **kwargs)
        kept.keep(store, place, result)
        return result

    return call


class _Step:
    def __init__(self, function, name: str, key, retention) -> None:
        if len(name) > _MAX_NAME:
            raise ValueError(f"the name of a step has at most {_MAX_NAME} characters: {name[:50]}…")
        self.function = function
        self.name = name
        self.key = key
        self.retention = retention
        self.signature = inspect.signature(function)

    def look(self, args: tuple, kwargs: dict) -> tuple:
        """The result in a tuple, or None; the key in the store; the store. Outside of a task there is no store."""
        from .run import current

        context = current.running_context()
        if context is None or context.get("ti") is None:
            return None, "", None
        place = self.place(args, kwargs)
        store = context["task_state_store"]
        kept = store.get(place)
        if kept is None:
            return None, place, store
        from .run.logs import say
        from .run.xcom_values import decode

        say(f"Step {self.name}: its result is that of try {kept['try']}")
        return (decode(kept["result"]),), place, store

    def keep(self, store, place: str, result) -> None:
        if store is None:
            return
        from .run import current
        from .run.xcom_values import encode

        tries = current.running_context()["ti"].try_number
        try:
            store.set(place, {"try": tries, "result": encode(result)}, retention=self.retention)
        except (TypeError, ValueError) as error:
            raise type(error)(f"the result of step {self.name} cannot be kept: {error}") from error

    def place(self, args: tuple, kwargs: dict) -> str:
        """The same for the same arguments, however they are passed."""
        from .run.xcom_values import encode

        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = self.key(*args, **kwargs) if self.key is not None else dict(bound.arguments)
        try:
            text = json.dumps(encode(given), sort_keys=True, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"step {self.name} cannot tell its calls apart: {error}. Give it key=, a function of its arguments that "
                "returns text or numbers"
            ) from error
        return f"{_PREFIX}{self.name}:{hashlib.sha256(text.encode()).hexdigest()[:24]}"
