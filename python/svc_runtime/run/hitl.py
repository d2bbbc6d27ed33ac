"""Asking people. The control plane keeps the question; the attempt ends, and the same try goes on with the answer.

ask_person{subject, body, options, defaults, multiple, params, assigned_users, timeout} answers `{"kind": "waiting", "until",
"is_new"}`, `{"kind": "answered", "answer"}` or `{"kind": "expired"}`.
"""

from __future__ import annotations

import datetime
import logging

from ..exceptions import AirflowException, AirflowRescheduleException, HITLTimeoutError
from .channel import RequestFailed
from .moments import moment

_log = logging.getLogger("task")
# The control plane knows what the task waits for; this only has to be later than any answer.
_NEVER = datetime.datetime(9999, 12, 31, tzinfo=datetime.timezone.utc)


class WaitingForAnswer(AirflowRescheduleException):
    """Ends the attempt; nothing runs until somebody has answered or the time is up."""

    svc_says = "Waiting for an answer"


def answer_to(task, ti, notify) -> dict:
    """The answer, when there is one. `notify` is called once, when the question has just been asked."""
    seconds = _seconds(task.response_timeout) or _seconds(task.execution_timeout)
    try:
        reply = ti._channel.request(
            "ask_person",
            subject=task.subject,
            body=task.body,
            options=task.options,
            defaults=task.defaults,
            multiple=task.multiple,
            params={name: param.dump() for name, param in task.form.param_items()},
            assigned_users={"users": [_person(user) for user in task.assigned_users]},
            timeout=None if seconds is None else max(0, round(seconds)),
        )
    except RequestFailed as failure:
        raise AirflowException(f"cannot ask: {failure}") from None
    if reply["kind"] == "answered":
        return reply["answer"]
    if reply["kind"] == "expired":
        raise HITLTimeoutError(f"nobody answered within {seconds:g} seconds, and there are no defaults")
    if reply.get("is_new"):
        _log.info("Asking: %s (%s)", task.subject, " / ".join(task.options))
        notify()
    raise WaitingForAnswer(moment(reply["until"]) if reply.get("until") else _NEVER)


def _seconds(timeout) -> float | None:
    if timeout is None:
        return None
    return timeout.total_seconds() if hasattr(timeout, "total_seconds") else float(timeout)


def _person(user) -> dict:
    """A dict with id and name, an object with them, or the id alone."""
    if isinstance(user, str):
        return {"id": user, "name": user}
    get = user.get if isinstance(user, dict) else lambda key: getattr(user, key, None)
    return {"id": str(get("id")), "name": str(get("name") or get("id"))}
