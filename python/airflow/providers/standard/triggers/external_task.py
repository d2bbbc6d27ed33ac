"""Triggers of the external task sensors; recorded by argument."""

from __future__ import annotations

from svc_runtime.run.triggers import BaseTrigger


class WorkflowTrigger(BaseTrigger):
    def __init__(self, external_dag_id: str, **kwargs) -> None:
        super().__init__(external_dag_id=external_dag_id, **kwargs)


class DagStateTrigger(BaseTrigger):
    def __init__(self, dag_id: str, states: list, **kwargs) -> None:
        super().__init__(dag_id=dag_id, states=states, **kwargs)
