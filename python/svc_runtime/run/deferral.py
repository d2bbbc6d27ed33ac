"""Deferred operators. The trigger runs inside the attempt, on an event loop, then the named method goes on."""

from __future__ import annotations

from ..exceptions import TaskDeferralError, TaskDeferralTimeout, TaskDeferred


def start(task, context):
    """The first step of a body: execute(), or the trigger of an operator that starts from one."""
    arguments = getattr(task, "start_trigger_args", None)
    if getattr(task, "start_from_trigger", False) and arguments is not None:
        from .helpers import import_string

        trigger = import_string(arguments.trigger_cls)(**(arguments.trigger_kwargs or {}))
        deferred = TaskDeferred(
            trigger=trigger, method_name=arguments.next_method, kwargs=arguments.next_kwargs, timeout=arguments.timeout
        )
        return _resume(task, context, deferred)
    return task.execute(context)


def run_body(task, context):
    """execute(), and as many deferrals as it asks for."""
    try:
        return start(task, context)
    except TaskDeferred as deferred:
        pending = deferred
    while True:
        try:
            return _resume(task, context, pending)
        except TaskDeferred as deferred:
            pending = deferred


def _resume(task, context, deferred: TaskDeferred):
    import asyncio
    import logging

    logging.getLogger("task").info("Waiting for %s, then %s()", type(deferred.trigger).__name__, deferred.method_name)
    method = getattr(task, deferred.method_name, None)
    if method is None:
        raise TaskDeferralError(f"{type(task).__name__} has no method {deferred.method_name!r} to resume")
    payload = asyncio.run(_first_event(deferred.trigger, deferred.timeout))
    return method(context, event=payload, **(deferred.kwargs or {}))


async def _first_event(trigger, timeout):
    import asyncio

    seconds = timeout.total_seconds() if hasattr(timeout, "total_seconds") else timeout
    try:
        return await asyncio.wait_for(_next_event(trigger), seconds)
    except asyncio.TimeoutError:
        raise TaskDeferralTimeout(f"{type(trigger).__name__} gave no event within {seconds} seconds") from None
    finally:
        await trigger.cleanup()


async def _next_event(trigger):
    events = trigger.run()
    async for event in events:
        await events.aclose()
        return event.payload
    raise TaskDeferralError(f"{type(trigger).__name__} ended without an event")
