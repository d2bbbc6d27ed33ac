"""Asks an author's own timetable: which runs come next, and what a manual run stands for.

Only where author code may run: in the compiler's sandbox, and in a worker's process when the control plane wants to know
more. Answers are plain data (`packages/spec/timetables/schema.ts`, type `custom`); moments are ISO 8601 in UTC.
"""

from __future__ import annotations

import datetime
import time

from .exceptions import RecordingError
from .record.timetable_base import DagRunInfo, DataInterval, TimeRestriction, Timetable
from .record.timetables import AssetOrTimeSchedule
from .record.timezones import iso, to_utc

# So many runs ahead, and no longer than this for all of them.
RUNS_AHEAD = 100
_PATIENCE_SECONDS = 5.0
# An answer this near to now comes from the clock: what follows it cannot be asked ahead of time.
_NOW_SECONDS = 2.0


class TimetableFailed(RecordingError):
    """The author's code raised, or its answer is none."""


# What a class says of its runs, and what the scheduler says of them for a built-in one.
_ANSWERS = (
    *(
        "next_dagrun_info",
        "next_dagrun_info_v2",
        "infer_manual_data_interval",
        "generate_run_id",
        "summary",
        "description",
    ),
    *("can_be_scheduled", "periodic", "active_runs_limit", "run_ordering", "partitioned", "asset_condition"),
    "get_partition_mapper",
)


def built_in(timetable: Timetable) -> type[Timetable]:
    """The class of ours that it is or inherits."""
    return next(base for base in type(timetable).__mro__ if base.__module__.startswith("svc_runtime."))


def own_answers(timetable: Timetable) -> set[str]:
    """Which of the answers are the author's, by the class or by the object."""
    kind, ours = type(timetable), built_in(timetable)
    return {
        name
        for name in _ANSWERS
        if name in vars(timetable) or getattr(kind, name, None) is not getattr(ours, name, None)
    }


def is_custom(timetable: Timetable) -> bool:
    """Whether the author's own code has to be asked. A class that only gives a built-in timetable its arguments is that timetable."""
    ours = built_in(timetable)
    return ours is not type(timetable) and (ours.spec_type is None or bool(own_answers(timetable)))


def class_name(timetable: Timetable) -> str:
    kind = type(timetable)
    if isinstance(timetable, AssetOrTimeSchedule) and not is_custom(timetable):
        return class_name(timetable.timetable)
    module = kind.__module__.removeprefix("svc_dag_")
    return f"{module}.{kind.__qualname__}"


def makes_run_ids(timetable: Timetable) -> bool:
    if isinstance(timetable, AssetOrTimeSchedule):
        return makes_run_ids(timetable.timetable)
    return not type(timetable).generate_run_id.__module__.startswith("svc_runtime.")


def runs_after(
    timetable: Timetable,
    *,
    last: DagRunInfo | None,
    earliest,
    latest,
    catchup: bool,
    count: int = RUNS_AHEAD,
    until=None,
) -> dict:
    """The chain of runs that follows `last`: each answer is what the next question is about."""
    asked_at = datetime.datetime.now(datetime.timezone.utc)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    restriction = TimeRestriction(earliest=_moment(earliest), latest=_moment(latest), catchup=catchup)
    runs: list = []
    previous = None if last is None else _in_utc(last)
    complete = not timetable.can_be_scheduled
    after = None if previous is None else _place(previous)
    while not complete and len(runs) < count and (not runs or time.monotonic() < deadline):
        info = _ask(timetable, "next_dagrun_info_v2", last_dagrun_info=previous, restriction=restriction)
        if info is None:
            complete = True
            break
        run = _run(timetable, info)
        if previous is not None:
            _check_goes_on(timetable, previous, run)
        if until is not None and to_utc(info.run_after) > until:
            complete = True
            break
        runs.append(run)
        previous = _in_utc(info)
        # A run up to now, as of "as often as possible": when the next one is asked for decides what it is.
        if abs((to_utc(info.run_after) - asked_at).total_seconds()) < _NOW_SECONDS:
            break
    return {"after": after, "asked_at": iso(asked_at), "runs": runs, "complete": complete}


def _in_utc(info: DagRunInfo) -> DagRunInfo:
    interval = info.data_interval
    return info._replace(
        run_after=_moment(info.run_after),
        data_interval=None if interval is None else DataInterval(_moment(interval.start), _moment(interval.end)),
        partition_date=_moment(info.partition_date),
    )


def _check_goes_on(timetable: Timetable, previous: DagRunInfo, run: dict) -> None:
    before = _place(previous)
    is_same = (run["start"], run["end"]) == (before["start"], before["end"])
    if "undated" in run and not is_same and to_utc(run["run_after"]) < to_utc(before["end"]):
        raise TimetableFailed(
            f"the timetable {class_name(timetable)} gave the partition {run['partition_key']} of {run['run_after']} after one of "
            f"{before['end']}",
            "Let run_after of each partition be later than that of the one before",
        )
    if is_same:
        raise TimetableFailed(
            f"the timetable {class_name(timetable)} gave the run of {run['start']} again when it was asked for the one after it",
            "Let next_dagrun_info() move on from last_automated_data_interval, or return None",
        )


def manual_run(timetable: Timetable, run_after) -> dict:
    """What a run that somebody triggers for that moment covers."""
    at = _moment(run_after)
    interval = _ask(timetable, "infer_manual_data_interval", run_after=at)
    if not isinstance(interval, tuple) or len(interval) != 2:
        raise _no_answer(timetable, "infer_manual_data_interval", interval, "a DataInterval")
    found = _interval(DataInterval(*interval))
    if makes_run_ids(timetable):
        found["run_id"] = _run_id(timetable, "manual", DagRunInfo(run_after=at, data_interval=DataInterval(*interval)))
    return found


def _ask(timetable: Timetable, method: str, **question):
    try:
        return getattr(timetable, method)(**question)
    except RecordingError:
        raise
    except Exception as error:
        method = method.removesuffix("_v2")
        raise TimetableFailed(
            f"the timetable {class_name(timetable)} raised {type(error).__name__} in {method}(): {error}",
            f"Fix {method}() of the timetable; it was asked with {_shown(question)}",
        ).with_traceback(error.__traceback__) from error


def _run(timetable: Timetable, info) -> dict:
    if not isinstance(info, DagRunInfo):
        raise _no_answer(timetable, "next_dagrun_info", info, "a DagRunInfo or None")
    is_undated = info.data_interval is None and timetable.partitioned and bool(info.partition_key)
    if info.run_after is None or (info.data_interval is None and not is_undated):
        wanted = "run_after and partition_key" if timetable.partitioned else "run_after and data_interval"
        raise _no_answer(timetable, "next_dagrun_info", info, f"a DagRunInfo with {wanted}")
    try:
        run = {**_place(info), "run_after": iso(_aware(info.run_after))}
        if is_undated:
            run |= {"undated": True, "partition_date": iso(_aware(info.partition_date or info.run_after))}
    except (TypeError, ValueError, AttributeError) as error:
        raise _no_answer(timetable, "next_dagrun_info", info, f"made of dates with a time zone ({error})") from None
    if info.partition_key is not None:
        run["partition_key"] = str(info.partition_key)
    if makes_run_ids(timetable):
        known = _in_utc(info)
        run["run_id"] = _run_id(timetable, "scheduled", known)
        run["backfill_run_id"] = _run_id(timetable, "backfill", known)
    return run


def _place(info: DagRunInfo) -> dict:
    """Where in the chain it is: its interval, or its moment where a run of a partition has none."""
    return _interval(info.data_interval or DataInterval.exact(info.run_after))


def answer(timetable: Timetable, question: dict) -> dict:
    """What the control plane asks a worker: `runs` that follow, the runs of a `range`, or a `manual` run."""
    if question["kind"] == "manual":
        return manual_run(timetable, question["run_after"])
    last = question.get("last")
    return runs_after(
        timetable,
        last=None if last is None else _run_before(last),
        earliest=question.get("earliest"),
        latest=question.get("latest"),
        catchup=bool(question.get("catchup")),
        count=int(question.get("count") or RUNS_AHEAD),
        until=to_utc(question["until"]) if question.get("until") else None,
    )


def _run_before(last: dict) -> DagRunInfo:
    end = to_utc(last["end"])
    if "partition_key" not in last:
        return DagRunInfo(run_after=end, data_interval=DataInterval(to_utc(last["start"]), end))
    date = to_utc(last["partition_date"])
    return DagRunInfo(run_after=end, data_interval=None, partition_date=date, partition_key=last["partition_key"])


def _run_id(timetable: Timetable, run_type: str, info: DagRunInfo) -> str:
    from .enums import DagRunType

    about = {"run_after": info.run_after, "data_interval": info.data_interval}
    if info.partition_key is not None:
        about["partition_key"] = info.partition_key
    text = _ask(timetable, "generate_run_id", run_type=DagRunType(run_type), **about)
    if not isinstance(text, str) or not text:
        raise _no_answer(timetable, "generate_run_id", text, "a text")
    return text


def _interval(interval) -> dict:
    return {"start": iso(_aware(interval.start)), "end": iso(_aware(interval.end))}


def _aware(value):
    if not isinstance(value, datetime.datetime):
        raise TypeError(f"{value!r} is no datetime")
    if value.utcoffset() is None:
        raise ValueError(f"{value!r} has no time zone")
    return value


def _moment(value):
    """As Airflow hands them out: pendulum's, in UTC."""
    if value is None:
        return None
    import pendulum

    return pendulum.instance(to_utc(value)).in_timezone("UTC")


def _no_answer(timetable: Timetable, method: str, answer, expected: str) -> TimetableFailed:
    return TimetableFailed(
        f"{method}() of the timetable {class_name(timetable)} returned {_short(answer)}, which is not {expected}",
        f"Return {expected} from {method}()",
    )


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def _shown(question: dict) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in question.items())
