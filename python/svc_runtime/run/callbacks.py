"""Callbacks of tasks and runs. Whatever a callback does, the outcome of the attempt stays what it is."""

from __future__ import annotations

import inspect
import logging

from ..record.base_args import as_list
from .logs import say


def run_callbacks(callbacks, context, which: str) -> list:
    """Calls each with the context; returns the errors, which are in the log already."""
    errors = []
    for callback in as_list(callbacks):
        name = getattr(callback, "__name__", None) or type(callback).__name__
        try:
            result = callback(context)
            if inspect.iscoroutine(result):
                import asyncio

                asyncio.run(result)
        except Exception as error:
            say(f"{which} callback {name} failed", level=logging.ERROR, error=error)
            errors.append(error)
    return errors


def callback_for(outcome, job: dict) -> str | None:
    """Which task-level callbacks the outcome calls for."""
    if outcome.state == "success":
        return "on_success_callback"
    if outcome.state == "skipped":
        return "on_skipped_callback"
    if outcome.state == "failed":
        return "on_retry_callback" if outcome.retryable and job.get("retry_on_failure") else "on_failure_callback"
    return None
