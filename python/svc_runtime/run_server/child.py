"""An attempt's process, from the fork to its end.

It says hello at once and prepares everything that needs no job, while the agent still asks the control plane for leave to
start; the job comes when that is acknowledged.
"""

from __future__ import annotations

import os
import signal
import time

from ..run import logs
from ..run.attempt import Attempt, run_callback_job, run_timetable_job
from ..run.channel import AgentGone, Channel
from ..run.kernel import become_subreaper, die_with_parent, has_unread
from ..run.masks import masks
from ..run.outcome import Outcome
from ..run.set_environment import set_environment
from ..run.stopping import Stopping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..record.dag import DAG

_SIGKILL = int(signal.SIGKILL)
_OUTPUT_PATIENCE = 0.05
_OUTPUT_PAUSE = 0.0005


def run_child(
    named: Callable[[], str], *, request: dict, dag: DAG | None, parent: int, done: Callable[[], None]
) -> None:
    """`named()` gives the attempt's name, perhaps after some waiting; `done()` is called at the end. Never returns."""
    try:
        os.setsid()
        die_with_parent(_SIGKILL, parent)
        become_subreaper()
        attempt = named()
        channel = Channel.connect(request["socket"])
        stopping = Stopping(channel)
        stopping.install()
        channel.send({"type": "hello", "attempt": attempt, "pid": os.getpid()})
        logs.sink.attach(channel)
        job = channel.receive()
        outcome = _run(job, request, dag, channel, stopping)
        if not channel.is_ours:
            os._exit(0)  # the body forked, and this is the copy that came back from it
        stopping.die_if_terminated()
        _let_output_go()
        report(outcome, channel)
        done()
    except AgentGone:
        os._exit(71)
    except BaseException:
        if "stopping" in locals():
            stopping.die_if_terminated()
        os._exit(70)
    os._exit(0)


def _run(job: dict, request: dict, dag: DAG | None, channel: Channel, stopping: Stopping) -> Outcome:
    for secret in job.get("masks") or ():
        masks.add(secret)
    env = job.get("env")
    if env:
        set_environment(env)
        if logs.LEVEL_SETTING in env:
            logs.set_level()
        if "TZ" in env:
            time.tzset()
    if dag is None:
        from .load_version import LoadFailed, load_version

        try:
            dag = load_version(request)
        except LoadFailed as failure:
            logs.say(f"the DAG file could not be loaded: {failure.error}\n{failure.traceback}")
            outcome = Outcome()
            outcome.fail(failure)
            return outcome
    if job.get("kind") == "triggerer":
        from ..triggerer.runner import run_triggerer

        return run_triggerer(job, channel)
    if job.get("kind") == "callback":
        return run_callback_job(job, dag, channel)
    if job.get("kind") == "timetable":
        return run_timetable_job(job, dag, channel)
    return Attempt(job, dag, channel, stopping).run()


def _let_output_go() -> None:
    """What programs wrote to descriptors 1 and 2 before the result reaches the agent before it, within reason."""
    deadline = None
    while _has_output():
        now = time.monotonic()
        deadline = deadline or now + _OUTPUT_PATIENCE
        if now > deadline:
            return
        time.sleep(_OUTPUT_PAUSE)


def _has_output() -> bool:
    try:
        return has_unread(1) or has_unread(2)
    except OSError:
        return False  # the task has put something else there


def report(outcome: Outcome, channel: Channel) -> None:
    """The last words, then the result."""
    logs.sink.hold()
    logs.end_streams()
    logs.sink.flush()
    try:
        channel.send(outcome.message())
    except ValueError as error:
        # Larger than a frame: every single value is within its limit, all of them together are not.
        from ..run.xcom_values import XComTooLarge

        outcome.xcoms, outcome.rendered_fields = [], {}
        outcome.fail(XComTooLarge(str(error)))
        channel.send(outcome.message())
