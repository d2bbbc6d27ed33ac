"""The closed word lists Airflow authors use. Values are what is written into the spec."""

from __future__ import annotations

import enum


class _StrEnum(str, enum.Enum):
    """`str()` gives the value on every supported Python (enum.StrEnum needs 3.11)."""

    def __str__(self) -> str:
        return self.value


class TriggerRule(_StrEnum):
    ALL_SUCCESS = "all_success"
    ALL_FAILED = "all_failed"
    ALL_DONE = "all_done"
    ALL_DONE_MIN_ONE_SUCCESS = "all_done_min_one_success"
    ALL_DONE_SETUP_SUCCESS = "all_done_setup_success"
    ONE_SUCCESS = "one_success"
    ONE_FAILED = "one_failed"
    ONE_DONE = "one_done"
    NONE_FAILED = "none_failed"
    NONE_SKIPPED = "none_skipped"
    ALWAYS = "always"
    NONE_FAILED_MIN_ONE_SUCCESS = "none_failed_min_one_success"
    ALL_SKIPPED = "all_skipped"

    @classmethod
    def is_valid(cls, rule: str) -> bool:
        return str(rule) in cls.all_triggers()

    @classmethod
    def all_triggers(cls) -> set[str]:
        return {member.value for member in cls}


# Rules of Airflow 1 and 2 by their names then.
OLD_TRIGGER_RULES = {"none_failed_or_skipped": "none_failed_min_one_success", "dummy": "always"}


class WeightRule(_StrEnum):
    DOWNSTREAM = "downstream"
    UPSTREAM = "upstream"
    ABSOLUTE = "absolute"

    @classmethod
    def is_valid(cls, rule: str) -> bool:
        return str(rule) in cls.all_weight_rules()

    @classmethod
    def all_weight_rules(cls) -> set[str]:
        return {member.value for member in cls}


class TaskInstanceState(_StrEnum):
    REMOVED = "removed"
    SCHEDULED = "scheduled"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    RESTARTING = "restarting"
    FAILED = "failed"
    UP_FOR_RETRY = "up_for_retry"
    UP_FOR_RESCHEDULE = "up_for_reschedule"
    UPSTREAM_FAILED = "upstream_failed"
    SKIPPED = "skipped"
    DEFERRED = "deferred"
    AWAITING_INPUT = "awaiting_input"


class DagRunState(_StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"


class State:
    """The one flat name list of older files (`State.SUCCESS`)."""

    NONE = None
    REMOVED = TaskInstanceState.REMOVED
    SCHEDULED = TaskInstanceState.SCHEDULED
    QUEUED = TaskInstanceState.QUEUED
    RUNNING = TaskInstanceState.RUNNING
    SUCCESS = TaskInstanceState.SUCCESS
    RESTARTING = TaskInstanceState.RESTARTING
    FAILED = TaskInstanceState.FAILED
    UP_FOR_RETRY = TaskInstanceState.UP_FOR_RETRY
    UP_FOR_RESCHEDULE = TaskInstanceState.UP_FOR_RESCHEDULE
    UPSTREAM_FAILED = TaskInstanceState.UPSTREAM_FAILED
    SKIPPED = TaskInstanceState.SKIPPED
    DEFERRED = TaskInstanceState.DEFERRED
    AWAITING_INPUT = TaskInstanceState.AWAITING_INPUT
    finished = frozenset([SUCCESS, FAILED, SKIPPED, UPSTREAM_FAILED, REMOVED])
    unfinished = frozenset(
        [None, SCHEDULED, QUEUED, RUNNING, RESTARTING, UP_FOR_RETRY, UP_FOR_RESCHEDULE, DEFERRED, AWAITING_INPUT]
    )
    failed_states = frozenset([FAILED, UPSTREAM_FAILED])
    success_states = frozenset([SUCCESS, SKIPPED])
    task_states = (None, *TaskInstanceState)
    dag_states = (DagRunState.QUEUED, DagRunState.SUCCESS, DagRunState.RUNNING, DagRunState.FAILED)
    finished_dr_states = frozenset([DagRunState.SUCCESS, DagRunState.FAILED])
    unfinished_dr_states = frozenset([DagRunState.QUEUED, DagRunState.RUNNING])
    # The names of colours that Airflow gives them, which messages to chats use.
    state_color = {
        NONE: "lightblue",
        QUEUED: "gray",
        RUNNING: "lime",
        SUCCESS: "green",
        RESTARTING: "violet",
        FAILED: "red",
        UP_FOR_RETRY: "gold",
        UP_FOR_RESCHEDULE: "turquoise",
        UPSTREAM_FAILED: "orange",
        SKIPPED: "hotpink",
        REMOVED: "lightgrey",
        SCHEDULED: "tan",
        DEFERRED: "mediumpurple",
    }

    @classmethod
    def color(cls, state) -> str:
        return cls.state_color.get(state, "white")

    @classmethod
    def color_fg(cls, state) -> str:
        return "white" if cls.color(state) in ("green", "red") else "black"


class DagRunType(_StrEnum):
    BACKFILL_JOB = "backfill"
    SCHEDULED = "scheduled"
    MANUAL = "manual"
    ASSET_TRIGGERED = "asset_triggered"
    ASSET_MATERIALIZATION = "asset_materialization"


class DagRunTriggeredByType(enum.Enum):
    CLI = "cli"
    OPERATOR = "operator"
    REST_API = "rest_api"
    UI = "ui"
    TEST = "test"
    TIMETABLE = "timetable"
    ASSET = "asset"
    BACKFILL = "backfill"


class WeekDay(enum.IntEnum):
    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6
    SUNDAY = 7

    @classmethod
    def get_weekday_number(cls, week_day_str: str) -> WeekDay:
        member = cls.__members__.get(week_day_str.upper())
        if member is None:
            raise AttributeError(f'Invalid Week Day passed: "{week_day_str}"')
        return member

    @classmethod
    def convert(cls, day: str | WeekDay) -> int:
        return cls.get_weekday_number(day) if isinstance(day, str) else day

    @classmethod
    def validate_week_day(cls, week_day) -> set:
        """One day or several, by name or by member; always a set of members afterwards."""
        if isinstance(week_day, (str, WeekDay)):
            return {cls.convert(week_day)}
        if isinstance(week_day, dict) or not hasattr(week_day, "__iter__"):
            raise TypeError(
                f"Unsupported Type for week_day parameter: {type(week_day)}. Input should be iterable type: "
                "str, set, list, dict or Weekday enum type"
            )
        return {cls.convert(day) for day in week_day}
