"""Order and cycles of the task graph, iteratively: a 10,000-task chain must not exhaust the stack."""

from __future__ import annotations

from ..exceptions import AirflowDagCycleException


def topological_order(dag) -> list:
    """Kahn's algorithm; ties keep definition order. A cycle is an error that names its tasks."""
    waiting = {task.task_id: len(task.upstream_task_ids) for task in dag.tasks}
    ready = [task.task_id for task in dag.tasks if waiting[task.task_id] == 0]
    position = {task_id: index for index, task_id in enumerate(dag.task_dict)}
    order: list = []
    index = 0
    while index < len(ready):
        task = dag.task_dict[ready[index]]
        index += 1
        order.append(task)
        for task_id in sorted(task.downstream_task_ids, key=lambda known: position[known]):
            waiting[task_id] -= 1
            if waiting[task_id] == 0:
                ready.append(task_id)
    if len(order) < len(waiting):
        left = {task_id for task_id, count in waiting.items() if count > 0}
        raise AirflowDagCycleException(
            f"Cycle detected in Dag: {dag.dag_id}. The tasks wait for each other: {' >> '.join(_one_cycle(dag, left))}"
        )
    return order


def _one_cycle(dag, left: set) -> list:
    """Walks backwards inside the unfinished part; it must meet itself."""
    path: list = []
    seen: dict = {}
    task_id = min(left)
    while task_id not in seen:
        seen[task_id] = len(path)
        path.append(task_id)
        task_id = min(dag.task_dict[task_id].upstream_task_ids & left)
    cycle = [*path[seen[task_id] :], task_id]
    return list(reversed(cycle))
