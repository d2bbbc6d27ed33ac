"""One attempt of one task: prepare, run the body, collect what it leaves, call its callbacks.

job ─▶ instance, context ─▶ unmap ─▶ render ─▶ pre_execute ─▶ on_execute ─▶ body ─▶ post_execute ─▶ values
                                                                 └─ exception ─▶ outcome ─▶ callbacks ─▶ result
"""

from __future__ import annotations

import contextlib
import datetime
import logging
from collections.abc import Mapping, Sequence

from ..enums import TaskInstanceState
from ..exceptions import (
    AirflowTaskTerminated,
    DagRunTriggerException,
    RecordingError,
    UnmappableXComTypePushed,
    XComForMappingNotPushed,
)
from ..record.params import ParamsDict
from ..record.templating import render_text
from ..record.timezones import iso, to_utc
from . import current
from .asset_events import events_of
from .callbacks import callback_for, run_callbacks
from .channel import AgentGone
from .context import build_context
from .deferral import run_body
from .environment import enter_context
from .instance import RunningDagRun, RunningTaskInstance
from .listeners import is_heard, tell_ended, tell_of_run, tell_running
from .logs import say, sink
from .mapping import Expansion, unmapped
from .moments import moment
from .outcome import Outcome
from .rendered import rendered_fields
from .secrets_source import AgentSecrets
from .xcoms import RETURN_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Attempt:
    def __init__(self, job: dict, dag, channel, stopping) -> None:
        self.job = job
        self.dag = dag
        self.channel = channel
        self.stopping = stopping
        self.outcome = Outcome()
        self.task: Any = None
        self.context: dict = {}
        # Not looked up in the context: arguments of a body may be called `ti` there.
        self.ti: Any = None

    def run(self) -> Outcome:
        outcome = self.outcome
        try:
            self._prepare()
            value = self._body()
            self._check_stopped()
            # From here on the runner speaks, and will be done shortly.
            sink.hold()
            self._name_instance()
            self._collect(value)
        except (AirflowTaskTerminated, AgentGone):
            raise
        except BaseException as error:
            if self.leaves(error):
                raise
            self._check_stopped()
            sink.hold()
            self._ended_by(error)
        self._finish()
        self.stopping.task = None
        return outcome

    def leaves(self, error: BaseException) -> bool:
        """True for an exception that is no end of the task, but of the process that runs it."""
        return False

    def own(self, task):
        """The task that this attempt may change. A process that runs nothing else needs no copy."""
        return task

    def _check_stopped(self) -> None:
        """A body that swallowed its end is stopped all the same: no outcome, no callbacks."""
        if self.stopping.terminated:
            raise AirflowTaskTerminated

    def _prepare(self) -> None:
        job, dag = self.job, self.dag
        # The DAG may be registered under another id than the file gives it; the task must see the one it runs as.
        dag.dag_id = job["dag_id"]
        current.secrets_source = AgentSecrets(self.channel, job)
        current.base_url = job.get("base_url") or ""
        for problem in current.plugin_problems:
            say(problem, level=logging.WARNING)
        ti = RunningTaskInstance(job, dag, self.channel)
        ti.task = self.own(ti.task)
        ti.svc_left = self.outcome.xcoms
        self.context = context = build_context(job, dag, ti.dag_run, ti, self.channel)
        self.ti = ti
        self.task = ti.task
        current.push(context)
        enter_context(context)
        if current.local_settings is not None:
            current.local_settings.mutate(ti)
        ti.svc_expand = Expansion(ti.task, ti.map_index, context, context["expanded_ti_count"])
        task, not_templates = unmapped(ti.task, ti.svc_expand)
        if not_templates:
            task.__dict__["svc_not_templates"] = not_templates
        self.task = ti.task = context["task"] = self.stopping.task = task
        # As on Airflow, those of the DAG are among the params of a task.
        task.params = ParamsDict.for_task(dag.params, task.params)
        task.prepare_template()
        task.render_template_fields(context)
        if context["map_index_template"] and ti.is_mapped:
            # A body may add what the template still lacks.
            with contextlib.suppress(Exception):
                self._name_instance()
            ti.rendered_map_index, self.outcome.rendered_map_index = self.outcome.rendered_map_index, None
        self.outcome.rendered_fields = rendered_fields(task)

    def _body(self):
        task, context = self.task, self.context
        tell_running(self.ti)
        task.pre_execute(context)
        # As on Airflow, again when a deferred task is resumed.
        if task.on_execute_callback:
            run_callbacks(task.on_execute_callback, context, "on_execute")
        timeout = self._timeout()
        if timeout and timeout > 0:
            with self.stopping.within(timeout):
                value = self._value_of_body()
        else:
            value = self._value_of_body()
        task.post_execute(context, value)
        return value

    def _value_of_body(self):
        try:
            return run_body(self.task, self.context, self.job.get("resume"))
        except DagRunTriggerException as request:
            from .trigger_run import trigger

            return trigger(request, self.ti, self.channel)
        finally:
            if self.task.svc_set_by_body:
                self.outcome.rendered_fields = rendered_fields(self.task)

    def _timeout(self) -> float | None:
        """The version's limit, which svc.yaml may have changed; else the file's."""
        spec = self.job.get("spec") or {}
        if "execution_timeout" in spec:
            return spec["execution_timeout"]
        given = self.task.execution_timeout
        return given.total_seconds() if given is not None else None

    def _collect(self, value) -> None:
        task, outcome = self.task, self.outcome
        outcome.xcoms += self._values(value if task.do_xcom_push else None)
        if self.ti.svc_skips:
            self._skip(self.ti.svc_skips)
        if task.outlets:
            outcome.asset_events = events_of(task.outlets, self.context["outlet_events"])

    def _skip(self, task_ids: list) -> None:
        self.outcome.skips = task_ids
        say(f"Skipping downstream tasks: {', '.join(task_ids)}")

    def _values(self, value) -> list:
        value = self._mappable(value)
        if value is None:
            return []
        pairs = [(RETURN_KEY, value)]
        if self.task.multiple_outputs:
            if not isinstance(value, Mapping):
                raise TypeError(f"a task with multiple_outputs must return a dict, not a {type(value).__name__}")
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"a task with multiple_outputs must return a dict with text keys, not {key!r}")
            pairs = [*value.items(), *pairs]
        return self.ti.xcoms.values.entries(pairs)

    def _mappable(self, value):
        """A later task is expanded over the value, so it must have a length the scheduler can see."""
        if not self.job.get("mapped_over"):
            return value
        if value is None:
            raise XComForMappingNotPushed("the task returned nothing, but a later task is expanded over its value")
        # The control plane counts the items of a tuple, too, so tasks after it get the tuple, as on Airflow.
        if isinstance(value, (dict, list, tuple)):
            return value
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
            return list(value)
        raise UnmappableXComTypePushed(
            f"the task returned a {type(value).__name__}, but a later task is expanded over its value, which must be a "
            "list or a dict"
        )

    def _ended_by(self, error: BaseException) -> None:
        outcome = self.outcome
        outcome.ended_by(error)
        self.context["exception"] = error
        if outcome.state == "failed":
            say("Task failed with exception", level=logging.ERROR, error=error)
            self._ask_policy(error)
            self._say_group_retry()
        elif outcome.state == "skipped":
            say(f"Skipping task. {error}".rstrip())
        elif outcome.deferral is not None:
            say(f"Pausing task as DEFERRED. {outcome.deferral['classPath']}, then {outcome.deferral['nextMethod']}()")
        elif outcome.state == "reschedule":
            say(getattr(error, "svc_says", f"Rescheduling the task, next at {outcome.reschedule_at}"))
        elif outcome.skips:
            self._skip(outcome.skips)
        if outcome.state == "success":
            try:
                outcome.asset_events = events_of(self.task.outlets, self.context["outlet_events"])
            except Exception as failure:
                outcome.fail(failure)

    def _ask_policy(self, error: BaseException) -> None:
        """A policy that fails changes nothing."""
        policy = getattr(self.task, "retry_policy", None)
        if policy is None or not self.outcome.retryable:
            return
        try:
            decision = policy.evaluate(error, self.ti.try_number, self.ti.max_tries, self.context)
            self.outcome.apply(decision)
        except Exception as failure:
            say("The retry policy failed; the task is retried as without it", level=logging.ERROR, error=failure)
            return
        delay = self.outcome.retry_delay
        after = "" if delay is None else f" after {delay:g} s"
        say(f"Retry policy: {decision.action.value}{after}{f': {decision.reason}' if decision.reason else ''}")

    def _say_group_retry(self) -> None:
        told = self.job.get("group_retry")
        if told is None or not self.outcome.retryable:
            return
        scope = "the run" if told["group"] is None else f"task group {told['group']}"
        say(f"Retry {told['number']} of {told['of']} of {scope} follows when nothing else in it is active")

    def _finish(self) -> None:
        outcome, task = self.outcome, self.task
        if task is None or outcome.state in ("reschedule", "deferred"):
            return
        if outcome.rendered_map_index is None:
            self._name_instance_if_possible()
        if task.operator_extra_links:
            from .links import values_of_links

            outcome.xcoms += values_of_links(task, self.ti)
        # Listeners and callbacks see the end of the instance, and the values that it leaves.
        self.ti.end_date = datetime.datetime.now(datetime.timezone.utc)
        self.ti.xcoms.own.update((entry["key"], entry) for entry in outcome.xcoms)
        tell_ended(self.ti, outcome.state, self.context.get("exception"))
        which = callback_for(outcome, self.job)
        if which is None:
            return
        callbacks = getattr(task, which, None)
        if callbacks:
            self.ti.state = _shown_state(which, outcome.state)
            sink.flush()  # a callback may take its time
            run_callbacks(callbacks, self.context, which.removesuffix("_callback"))
            sink.hold()

    def _name_instance(self) -> None:
        """Renders map_index_template. What it names must be there once the body has succeeded, as on Airflow."""
        template = self.context.get("map_index_template")
        if template and self.job.get("map_index", -1) >= 0:
            self.outcome.rendered_map_index = render_text(template, self.context, self.task, self.dag)[:250]

    def _name_instance_if_possible(self) -> None:
        try:
            self._name_instance()
        except Exception as error:
            say(
                f"map_index_template cannot be rendered: {error}. Set its names in get_current_context(); **context of a "
                "function is a copy",
                level=logging.WARNING,
            )


def _shown_state(which: str, state: str) -> str:
    return "up_for_retry" if which == "on_retry_callback" else state


def run_callback_job(job: dict, dag, channel) -> Outcome:
    """Callbacks of a run, or of a task whose process could not call them itself."""
    outcome = Outcome()
    dag.dag_id = job["dag_id"]
    current.secrets_source = AgentSecrets(channel, job)
    current.base_url = job.get("base_url") or ""
    ti = RunningTaskInstance(job, dag, channel) if job.get("task_id") in dag.task_dict else None
    run = ti.dag_run if ti is not None else RunningDagRun(job)
    context = build_context(job, dag, run, ti, channel)
    if ti is not None:
        ti.svc_expand = Expansion(ti.task, ti.map_index, context)
    context["reason"] = job.get("reason")
    current.push(context)
    which = job["which"]
    owner = ti.task if job.get("scope") == "task" and ti is not None else dag
    if ti is not None and owner is dag and "shown_state" in job:
        ti.state = TaskInstanceState(job["shown_state"])
        ti.end_date = moment(job["end_date"])
    if which.startswith("reference:"):
        return _answer_reference(dag, int(which.partition(":")[2]), run, channel, outcome)
    if owner is dag and not which.startswith("deadline:"):
        run.state = "failed" if which == "on_failure" else "success"
    elif job.get("reason"):
        from ..exceptions import AirflowException

        context["exception"] = AirflowException(job["reason"])
    if which.startswith("listen:"):
        return _tell_listeners(which.removeprefix("listen:"), job, dag, channel)
    if which.startswith("deadline:"):
        return _run_deadline(dag.deadline[int(which.partition(":")[2])].callback, context, outcome)
    errors = run_callbacks(getattr(owner, f"{which}_callback", None), context, which)
    if errors:
        outcome.fail(errors[0])
    return outcome


def _tell_listeners(hook: str, job: dict, dag, channel) -> Outcome:
    """Of the run as it was at that moment, whatever it is by now."""
    from .heard_run import hear

    if is_heard(hook):
        run = hear(job, dag, channel, state=hook.removeprefix("on_dag_run_"))
        tell_of_run(hook, run, job.get("reason") or "")
    else:
        channel.request("nobody_listens")
    return Outcome()


def run_timetable_job(job: dict, dag, channel) -> Outcome:
    """A question about the DAG's own timetable or mappers; what they raise is an answer, too."""
    from ..ask_mapper import answer_keys
    from ..ask_timetable import TimetableFailed, answer

    outcome = Outcome()
    current.secrets_source = AgentSecrets(channel, job)
    if job["question"]["kind"] == "keys":
        channel.request("answer_timetable", answer=answer_keys(dag.timetable, job["question"]))
        return outcome
    try:
        channel.request("answer_timetable", answer=answer(dag.timetable, job["question"]))
    except TimetableFailed as error:
        channel.request("answer_timetable", problem=f"{error.what}. {error.instead}")
        outcome.fail(error)
    return outcome


class _NoSession:
    """Stands for the database session that Airflow gives to a reference."""

    def __getattr__(self, name: str):
        raise RecordingError(
            f"session.{name}: the reference of a deadline has no database session",
            "Compute the date from dag_id and run_id, variables and connections, or ask the REST API",
        )


def _answer_reference(dag, position: int, run, channel, outcome: Outcome) -> Outcome:
    """The date from which a deadline of the run counts, as the author's own code says. None: there is no deadline."""
    reference = dag.deadline[position].reference
    known = {"dag_id": dag.dag_id, "run_id": run.run_id}
    try:
        wanted = {name: known[name] for name in reference.required_kwargs}
        at = reference._evaluate_with(session=_NoSession(), **wanted)
        if at is not None:
            channel.request("answer_deadline", position=position, at=iso(to_utc(at)))
    except Exception as error:
        say(f"The deadline reference {reference.reference_name} failed", level=logging.ERROR, error=error)
        outcome.fail(error)
    return outcome


def _run_deadline(callback, context: dict, outcome: Outcome) -> Outcome:
    """A SyncCallback: a function, or the class of a notifier, which is made with the arguments and called with the context."""
    import inspect

    from .helpers import import_string

    target: Any = import_string(callback.callback) if isinstance(callback.callback, str) else callback.callback
    try:
        if inspect.isclass(target):
            notifier: Any = target(**callback.kwargs)
            notifier(context)
        else:
            parameters = inspect.signature(target).parameters.values()
            takes = any(one.name == "context" or one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
            target(**callback.kwargs, **({"context": context} if takes else {}))
    except Exception as error:
        say("The callback of a deadline failed", level=logging.ERROR, error=error)
        outcome.fail(error)
    return outcome
