"""What an AsyncCallback of a deadline is for a triggerer: a trigger whose event is that it has been called."""

from __future__ import annotations

import inspect
from typing import Any

from ..run.helpers import import_string
from ..run.triggers import BaseTrigger, TriggerEvent


class CallbackTrigger(BaseTrigger):
    def __init__(self, path: str, arguments: dict, deadline_id: str, at: str) -> None:
        super().__init__(path=path)
        self.path = path
        self.arguments = arguments
        self.deadline = {"id": deadline_id, "deadline_time": at}

    async def run(self):
        order = self.svc_order
        run = {"dag_id": order["dag_id"], "dag_run_id": order["run_id"], "run_id": order["run_id"]}
        context = {"dag_run": run, "dag_id": order["dag_id"], "run_id": order["run_id"], "deadline": self.deadline}
        self.log.info("The deadline of run %s was missed: calling %s", order["run_id"], self.path)
        await call(import_string(self.path), self.arguments, context)
        yield TriggerEvent("called")


async def call(callback, arguments: dict, context: dict) -> None:
    """A function, or the class of a notifier, which is made with the arguments and called with the context."""
    if inspect.isclass(callback):
        notifier: Any = callback(**arguments)
        notify = getattr(notifier, "async_notify", None)
        result = notify(context) if notify is not None else notifier(context)
    else:
        result = callback(**arguments, **_context_for(callback, context))
    if inspect.isawaitable(result):
        await result


def _context_for(callback, context: dict) -> dict:
    """For those that take it."""
    parameters = inspect.signature(callback).parameters.values()
    takes = any(one.name == "context" or one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    return {"context": context} if takes else {}
