"""The arguments every operator takes: one table of defaults and one function that checks and normalises them.

Plain operators use it at construction; mapped operators have no instance at compile time and use it on
their `.partial()` arguments. Defaults are those of an unconfigured Airflow 3.2.
"""

from __future__ import annotations

import datetime

from ..enums import OLD_TRIGGER_RULES, TriggerRule, WeightRule
from ..exceptions import AirflowException, FailFastDagInvalidTriggerRule
from . import current
from .timezones import to_utc
from .weights import own_strategy

DEFAULT_POOL = "default_pool"
DEFAULT_RETRY_DELAY = datetime.timedelta(seconds=300)

CALLBACKS = (
    "on_execute_callback",
    "on_failure_callback",
    "on_success_callback",
    "on_retry_callback",
    "on_skipped_callback",
)

BASE_DEFAULTS: dict = {
    "owner": "airflow",
    "email": None,
    "email_on_retry": True,
    "email_on_failure": True,
    "retries": 0,
    "retry_delay": DEFAULT_RETRY_DELAY,
    "retry_exponential_backoff": 0,
    "max_retry_delay": None,
    "retry_policy": None,
    "start_date": None,
    "end_date": None,
    "depends_on_past": False,
    "ignore_first_depends_on_past": False,
    "wait_for_past_depends_before_skipping": False,
    "wait_for_downstream": False,
    "priority_weight": 1,
    "weight_rule": WeightRule.DOWNSTREAM,
    "queue": "default",
    "pool": None,
    "pool_slots": 1,
    "sla": None,
    "execution_timeout": None,
    "on_execute_callback": None,
    "on_failure_callback": None,
    "on_success_callback": None,
    "on_retry_callback": None,
    "on_skipped_callback": None,
    "pre_execute": None,
    "post_execute": None,
    "trigger_rule": TriggerRule.ALL_SUCCESS,
    "resources": None,
    "run_as_user": None,
    "map_index_template": None,
    "max_active_tis_per_dag": None,
    "max_active_tis_per_dagrun": None,
    "executor": None,
    "executor_config": None,
    "do_xcom_push": True,
    "multiple_outputs": False,
    "inlets": None,
    "outlets": None,
    "doc": None,
    "doc_md": None,
    "doc_json": None,
    "doc_yaml": None,
    "doc_rst": None,
    "task_display_name": None,
    "logger_name": None,
    "allow_nested_operators": True,
    "render_template_as_native_obj": None,
}

# Names that place a task rather than describe it; never part of the recorded operator arguments.
PLACEMENT = ("task_id", "dag", "task_group", "default_args", "params")
# Words of Airflow 2 that files still carry; each maps to its present name, or to None when it has no effect any more.
RENAMED: dict[str, str | None] = {"task_concurrency": "max_active_tis_per_dag", "provide_context": None}


# Told where they are given; default_args are told once, by the DAG.
_OLD_WORDS = frozenset(RENAMED) | {"sla"}
SLA_ADVICE = "there are no SLAs any more; use deadline= of the DAG, or execution_timeout= of the task"


def with_present_names(kwargs: dict, own=()) -> None:
    """Renames old words in place, and tells the author. `own`: arguments an author's class has itself."""
    if _OLD_WORDS.isdisjoint(kwargs):
        return
    for old, new in RENAMED.items():
        if old not in kwargs or old in own:
            continue
        value = kwargs.pop(old)
        if new is None:
            current.warn_here(f"{old}= has no effect: remove it; `svc fix` does")
        else:
            current.warn_here(f"{old}= is an old spelling; write {new}=; `svc fix` rewrites it")
            kwargs.setdefault(new, value)
    if kwargs.get("sla") is not None:
        current.warn_here(f"sla= has no effect: {SLA_ADVICE}")


def merged_default_args(dag, group, explicit) -> dict:
    """default_args of the DAG, then of each enclosing group from outside in, then of the call itself."""
    merged = dict(dag.default_args) if dag is not None else {}
    groups = []
    while group is not None:
        groups.append(group)
        group = group.parent_group
    for member in reversed(groups):
        merged.update(member.default_args)
    merged.update(explicit or {})
    for old, new in RENAMED.items():
        if new is not None and old in merged:
            merged.setdefault(new, merged.pop(old))
    return merged


def as_list(value) -> list:
    if value is None:
        return []
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    return [value]


def _timedelta(name: str, value):
    if value is None or isinstance(value, datetime.timedelta):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"'{name}' must be a timedelta or a number of seconds, not {type(value).__name__} ({value!r})")
    return datetime.timedelta(seconds=value)


def _check_numbers(args: dict, task_id: str, dag) -> None:
    retries = args["retries"]
    if retries is None:
        args["retries"] = 0
    elif not isinstance(retries, int):
        try:
            args["retries"] = int(retries)
        except (TypeError, ValueError):
            raise TypeError(f"'retries' type must be int, not {type(retries).__name__}") from None
    if not isinstance(args["priority_weight"], int):
        raise TypeError(
            f"'priority_weight' for task '{task_id}' expects <class 'int'>, got "
            f"{type(args['priority_weight'])} with value {args['priority_weight']!r}"
        )
    if args["pool_slots"] < 1:
        where = f" in dag {dag.dag_id}" if dag is not None else ""
        raise ValueError(f"pool slots for {task_id}{where} cannot be less than 1")


def _check_rules(args: dict, task_id: str, dag) -> None:
    rule = str(args["trigger_rule"])
    if rule in OLD_TRIGGER_RULES:
        present = OLD_TRIGGER_RULES[rule]
        current.warn_here(f"trigger rule '{rule}' is an old spelling; write '{present}'; `svc fix` rewrites it")
        rule = present
    if not TriggerRule.is_valid(rule):
        raise ValueError(
            f"The trigger_rule must be one of {[member.value for member in TriggerRule]},"
            f"'{dag.dag_id if dag is not None else ''}.{task_id}'; received '{args['trigger_rule']}'."
        )
    args["trigger_rule"] = TriggerRule(rule)
    if dag is not None and dag.fail_fast and args["trigger_rule"] is not TriggerRule.ALL_SUCCESS:
        raise FailFastDagInvalidTriggerRule(
            f"A 'fail_fast' Dag can only have tasks with trigger rule '{TriggerRule.ALL_SUCCESS}'; "
            f"task '{task_id}' has '{rule}'"
        )
    weight = args["weight_rule"]
    if isinstance(weight, str) and WeightRule.is_valid(weight):
        args["weight_rule"] = WeightRule(str(weight))
        return
    args["weight_rule"] = own_strategy(task_id, weight)
    if args["weight_rule"] is None:
        raise AirflowException(
            f"The weight_rule must be one of {sorted(WeightRule.all_weight_rules())}; received '{weight}' "
            f"for task '{task_id}'"
        )


def _check_policy(value, task_id: str) -> None:
    """Without the class RetryPolicy, which few files load."""
    if value is None or (not isinstance(value, type) and callable(getattr(value, "evaluate", None))):
        return
    shown = f"the class {value.__name__}: make an object of it" if isinstance(value, type) else repr(value)
    raise TypeError(f"retry_policy of task '{task_id}' must be a RetryPolicy, not {shown}")


def normalise(args: dict, task_id: str, dag) -> dict:
    """Checks `args` (a full copy of the table above) in place and returns it."""
    _check_numbers(args, task_id, dag)
    _check_rules(args, task_id, dag)
    for name in ("retry_delay", "max_retry_delay"):
        args[name] = _timedelta(name, args[name])
    _check_policy(args["retry_policy"], task_id)
    if args["retry_delay"] is None:
        args["retry_delay"] = DEFAULT_RETRY_DELAY
    timeout = args["execution_timeout"]
    if timeout is not None and not isinstance(timeout, datetime.timedelta):
        raise ValueError(f"execution_timeout must be timedelta object but passed as type: {type(timeout)}")
    for name in ("start_date", "end_date"):
        args[name] = to_utc(args[name])
    args["pool"] = args["pool"] or DEFAULT_POOL
    # Waiting for the children of the previous run implies waiting for the previous run itself.
    if args["wait_for_downstream"]:
        args["depends_on_past"] = True
    for name in CALLBACKS:
        args[name] = as_list(args[name])
    for name in ("inlets", "outlets"):
        args[name] = as_list(args[name])
    args["executor_config"] = args["executor_config"] or {}
    return args
