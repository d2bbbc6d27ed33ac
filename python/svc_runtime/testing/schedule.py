"""When a DAG runs, by its schedule."""

from __future__ import annotations

import datetime

from ..ask_timetable import class_name, is_custom
from ..dag_test.engine import engine
from ..dag_test.local_run import spec_of
from ..run.clock import dag_zone
from ..run.moments import iso, moment
from .clock import read_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..record.dag import DAG

_ALL = 10_000
_LATEST = datetime.datetime(9998, 12, 31, tzinfo=datetime.timezone.utc)


class ScheduledRun:
    """A run that the schedule makes. `run_dag(dag, at=run)` runs it."""

    def __init__(self, dag: DAG, dates: dict) -> None:
        zone = dag_zone(dag)
        # In the time zone of the DAG.
        self.run_after = moment(dates["run_after"]).astimezone(zone)
        self.logical_date = moment(dates["logical_date"]).astimezone(zone)
        self.data_interval_start = moment(dates["data_interval_start"]).astimezone(zone)
        self.data_interval_end = moment(dates["data_interval_end"]).astimezone(zone)

    def __repr__(self) -> str:
        return (
            f"<scheduled run at {self.run_after.isoformat()}, "
            f"{self.data_interval_start.isoformat()} to {self.data_interval_end.isoformat()}>"
        )


def scheduled_runs(dag: DAG, after, until=None, *, count: int | None = None) -> list[ScheduledRun]:
    """The runs later than `after`: up to `until`, or `count` of them, oldest first."""
    if until is None and count is None:
        raise TypeError("scheduled_runs() needs `until` or `count`")
    if is_custom(dag.timetable):
        raise TypeError(
            f"scheduled_runs() does not know {class_name(dag.timetable)}. Call next_dagrun_info() of the timetable"
        )
    zone = dag_zone(dag)
    question = {
        "schedule": spec_of(dag)["schedule"],
        "earliest": iso(dag.start_date),
        "after": iso(read_moment(after, zone)),
        "until": iso(_LATEST if until is None else read_moment(until, zone)),
        "count": _ALL if count is None else count,
    }
    asked = engine()
    found = asked.ask({"run": asked.new_run(), "op": "schedule", **question})["runs"]
    return [ScheduledRun(dag, dates) for dates in found]
