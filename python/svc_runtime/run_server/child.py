"""An attempt's process, from the fork to its end.

In a worker that keeps its attempts apart it first goes to folders of its own (own_places.py) and closes itself off from other
processes (apart.py). It says hello at once and prepares everything that needs no job, while the agent still asks the control plane
for leave to start, or before there is an attempt at all; the job comes when that is acknowledged.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from ..run import current, logs
from ..run.attempt import Attempt, run_callback_job, run_timetable_job
from ..run.channel import AgentGone, Channel
from ..run.kernel import become_subreaper, children_of, die_with_parent, has_unread
from ..run.masks import masks
from ..run.outcome import Outcome
from ..run.stopping import Stopping
from .last_words import report
from .usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..record.dag import DAG
    from .apart import Apart
    from .late_modules import LateModules
    from .leftovers import Leftovers
    from .own_places import Place

_SIGKILL = int(signal.SIGKILL)
_OUTPUT_PATIENCE = 0.05
_OUTPUT_PAUSE = 0.0005
_HELPER_PATIENCE = 1.0
# W3C trace context, as OpenTelemetry reads it from an environment.
_TRACE_VARIABLE = "TRACEPARENT"


class Surroundings:
    """What a server gives to its children; without a place and a domain of their own where it does not keep them apart."""

    def __init__(self, request: dict, dag: DAG | None, late: LateModules, leftovers: Leftovers | None) -> None:
        self.request = request
        self.dag = dag
        self.late = late
        self.leftovers = leftovers
        self.apart: Apart | None = None
        self.place: Place | None = None


class Introduction:
    """By which attempt and key a child says hello, and what it does until it has its job. A spare has no attempt yet."""

    def __init__(self, attempt: str, key: str, before_job: Callable[[Channel], None] | None) -> None:
        self.attempt = attempt
        self.key = key
        self.before_job = before_job


def run_child(introduction: Introduction, *, parent: int, given: Surroundings) -> None:
    """Never returns."""
    request = given.request
    try:
        os.setsid()
        die_with_parent(_SIGKILL, parent)
        become_subreaper()
        if given.place is not None:
            given.place.enter(request.get("env") or {})
        if given.apart is not None:
            given.apart.enter()
        channel = Channel.connect(request["socket"])
        stopping = Stopping(channel)
        stopping.install()
        attempt, key = introduction.attempt, introduction.key
        channel.send({"type": "hello", "attempt": attempt, "key": key, "pid": os.getpid()})
        if introduction.before_job is not None:
            introduction.before_job(channel)
        logs.sink.attach(channel)
        job = channel.receive()
        usage = Usage()
        outcome = _run(job, request, given.dag, channel, stopping)
        if not channel.is_ours:
            os._exit(0)  # the body forked, and this is the copy that came back from it
        stopping.die_if_terminated()
        _end_helpers()
        _let_output_go()
        report(outcome, channel, {**_last_words(given), "usage": usage.message()})
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
        os.environ.update({name: str(value) for name, value in env.items()})
        if logs.LEVEL_SETTING in env:
            logs.set_level()
        if _TRACE_VARIABLE in env:
            logs.sink.trace_id = env[_TRACE_VARIABLE].split("-")[1]
        if "TZ" in env:
            time.tzset()
    if dag is None:
        from .load_version import LoadFailed

        try:
            dag = _load(job, request, channel)
        except LoadFailed as failure:
            logs.say(f"the DAG file could not be loaded: {failure.error}\n{failure.traceback}")
            if job.get("kind") != "triggerer":  # which needs the file only for classes of triggers in it
                outcome = Outcome()
                outcome.fail(failure)
                return outcome
    if job.get("kind") == "triggerer":
        from ..triggerer.runner import run_triggerer

        return run_triggerer(job, channel)
    assert dag is not None
    if job.get("kind") == "callback":
        return run_callback_job(job, dag, channel)
    if job.get("kind") == "timetable":
        return run_timetable_job(job, dag, channel)
    return Attempt(job, dag, channel, stopping).run()


def _load(job: dict, request: dict, channel: Channel) -> DAG:
    """Where the server could not load the file: because it starts threads, or reads variables and connections."""
    from ..run.secrets_source import AgentSecrets
    from .load_version import load_version

    if job.get("kind") == "triggerer":
        return load_version(request)  # it has no task in whose name it could ask
    source = current.secrets_source = AgentSecrets(channel, job)
    source.is_loading = True
    try:
        return load_version(request)
    finally:
        source.is_loading = False


def _end_helpers() -> None:
    """What Python itself ends when it exits, which this process never does: it is killed with all that is left."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is None:
        return
    # Pools first: one that is still at work starts a new process for each that is ended.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        import threading

        finalizers = threading.Thread(target=util._run_finalizers, args=(0,), daemon=True)
        finalizers.start()
        finalizers.join(_HELPER_PATIENCE)
    with contextlib.suppress(Exception):
        for process in multiprocessing.active_children():
            if process.daemon:
                process.terminate()
                process.join(_HELPER_PATIENCE)
    tracker: Any = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    if getattr(tracker, "_fd", None) is not None:
        with contextlib.suppress(Exception):
            tracker._stop()


def _last_words(given: Surroundings) -> dict:
    """For the agent, beside the result: known before it reports, so that nobody gives it more work than it will do."""
    words: dict = {}
    if given.leftovers is None:
        return words  # nobody comes after it
    if found := given.late.found(current.running_task()):
        words["late"] = found
    own = os.getpid()
    if given.leftovers.is_strict and (reason := given.leftovers.of_processes(children_of(own), own)):
        words["unclean"] = reason
    return words


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
