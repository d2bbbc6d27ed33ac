"""Effective priority of a task under its weight rule."""

from __future__ import annotations

from ..enums import WeightRule


def total_weight(task) -> int:
    rule = str(task.weight_rule)
    if rule == WeightRule.ABSOLUTE.value or task.dag is None:
        return task.priority_weight
    relatives = task.get_flat_relative_ids(upstream=rule == WeightRule.UPSTREAM.value)
    return task.priority_weight + sum(task.dag.task_dict[task_id].priority_weight for task_id in relatives)
