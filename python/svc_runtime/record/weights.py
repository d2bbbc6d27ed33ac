"""Effective priority of a task under its weight rule."""

from __future__ import annotations

import importlib
import types

from ..enums import WeightRule
from ..exceptions import RecordingError

_SMALLEST, _LARGEST = -(2**31), 2**31 - 1


class PriorityWeightStrategy:
    """Base class of authors' own weight rules: asked when a file is compiled, never by the scheduler."""

    def get_weight(self, ti) -> int:
        raise NotImplementedError("must be implemented by a subclass")

    def serialize(self) -> dict:
        return {}

    @classmethod
    def deserialize(cls, data: dict) -> PriorityWeightStrategy:
        return cls(**data)


def own_strategy(task_id: str, rule):
    """The author's own weight rule, by the object or the path of its class; None for a rule by name."""
    if isinstance(rule, PriorityWeightStrategy):
        return rule
    if isinstance(rule, type) and issubclass(rule, PriorityWeightStrategy):
        return rule()
    if not isinstance(rule, str) or "." not in rule:
        return None
    module, _, name = rule.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise RecordingError(
            f"task '{task_id}' uses the weight rule class {rule}, which cannot be imported: {error}",
            f"Use one of {', '.join(sorted(WeightRule.all_weight_rules()))}, or the path of a class beside the DAG files",
        ) from None
    if not isinstance(found, type) or not issubclass(found, PriorityWeightStrategy):
        raise RecordingError(
            f"task '{task_id}' uses the weight rule {rule}, which is not a PriorityWeightStrategy",
            "Let the class inherit airflow.task.priority_strategy.PriorityWeightStrategy",
        )
    return found()


def strategy_name(strategy) -> str:
    kind = type(strategy)
    return f"{kind.__module__.removeprefix('svc_dag_')}.{kind.__qualname__}"


def own_weight(task) -> int:
    """What the author's rule says of an instance that has not been tried: the weight is the same for every run and try."""
    strategy = task.weight_rule
    instance = types.SimpleNamespace(
        task=task,
        task_id=task.task_id,
        dag_id=task.dag.dag_id if task.dag is not None else None,
        priority_weight=task.priority_weight,
        try_number=0,
        map_index=-1,
        max_tries=task.retries,
        queue=task.queue,
        pool=task.pool,
        pool_slots=task.pool_slots,
        operator=task.task_type,
    )
    try:
        weight = strategy.get_weight(instance)
    except Exception as error:
        raise RecordingError(
            f"the weight rule {strategy_name(strategy)} of task '{task.task_id}' raised {type(error).__name__} in get_weight(): {error}",
            "It is asked when the file is compiled, when there is no run: it may use the task, priority_weight, try_number "
            "(0), queue and pool of the instance",
        ).with_traceback(error.__traceback__) from error
    if isinstance(weight, bool) or not isinstance(weight, int):
        raise RecordingError(
            f"get_weight() of the weight rule {strategy_name(strategy)} returned {weight!r} for task '{task.task_id}'",
            "Return a whole number",
        )
    return max(_SMALLEST, min(_LARGEST, weight))


def total_weight(task) -> int:
    if not isinstance(task.weight_rule, str):
        return own_weight(task)
    rule = str(task.weight_rule)
    if rule == WeightRule.ABSOLUTE.value or task.dag is None:
        return task.priority_weight
    relatives = task.get_flat_relative_ids(upstream=rule == WeightRule.UPSTREAM.value)
    return task.priority_weight + sum(task.dag.task_dict[task_id].priority_weight for task_id in relatives)
