"""Triggers that wait for runs and tasks of other DAGs."""

from __future__ import annotations

from svc_runtime.run.moments import iso
from svc_runtime.run.triggers import BaseTrigger, TriggerEvent


async def _ask(method: str, **params):
    """As a task would: the control plane answers for the DAG of the task that waits."""
    from svc_runtime.run import current

    return await current.require_source("the state of another DAG", "")._channel.ask(method, **params)


class WorkflowTrigger(BaseTrigger):
    def __init__(
        self,
        external_dag_id: str,
        run_ids: list | None = None,
        logical_dates: list | None = None,
        external_task_group_id: str | None = None,
        external_task_ids=None,
        failed_states=None,
        skipped_states=None,
        allowed_states=None,
        poke_interval: float = 2.0,
        soft_fail: bool = False,
        execution_dates: list | None = None,
        **kwargs,
    ) -> None:
        dates = logical_dates if logical_dates is not None else execution_dates
        super().__init__(
            external_dag_id=external_dag_id,
            run_ids=run_ids,
            logical_dates=dates,
            external_task_group_id=external_task_group_id,
            external_task_ids=external_task_ids,
            failed_states=failed_states,
            skipped_states=skipped_states,
            allowed_states=allowed_states,
            poke_interval=poke_interval,
            soft_fail=soft_fail,
        )
        self.external_dag_id = external_dag_id
        self.run_ids = run_ids
        self.logical_dates = dates
        self.external_task_group_id = external_task_group_id
        self.external_task_ids = external_task_ids
        self.failed_states = failed_states
        self.skipped_states = skipped_states
        self.allowed_states = allowed_states
        self.poke_interval = poke_interval
        self.soft_fail = soft_fail

    async def run(self):
        import asyncio

        while True:
            status = await self._status()
            if status is not None:
                yield TriggerEvent({"status": status})
                return
            await asyncio.sleep(self.poke_interval)

    async def _status(self) -> str | None:
        from svc_runtime.run.external import count_states

        answer = await _ask(
            "external_states",
            dag_id=self.external_dag_id,
            task_ids=self.external_task_ids,
            task_group_id=self.external_task_group_id,
            logical_dates=None if self.logical_dates is None else [iso(date) for date in self.logical_dates],
            run_ids=self.run_ids,
        )
        dates = self.logical_dates
        if dates is None:  # by their ids: each is there once it is listed
            dates = sorted({row["logical_date"] for row in answer["states"] if row["logical_date"] is not None})
        counts = count_states(
            answer,
            dag_id=self.external_dag_id,
            task_ids=self.external_task_ids,
            task_group_id=self.external_task_group_id,
            logical_dates=dates,
            allowed=self.allowed_states or ["success"],
            skipped=self.skipped_states or [],
            failed=self.failed_states or [],
            check_existence=False,
        )
        if counts["failed"]:
            return "failed"
        if counts["skipped"]:
            return "skipped"
        return "success" if counts["expected"] and counts["allowed"] >= counts["expected"] else None


class DagStateTrigger(BaseTrigger):
    def __init__(
        self, dag_id: str, states: list, run_ids: list | None = None, execution_dates=None, poll_interval: float = 5.0
    ) -> None:
        states = [str(state) for state in states]
        super().__init__(
            dag_id=dag_id, states=states, run_ids=run_ids, execution_dates=execution_dates, poll_interval=poll_interval
        )
        self.dag_id = dag_id
        self.states = states
        self.run_ids = run_ids
        self.execution_dates = execution_dates
        self.poll_interval = poll_interval

    async def run(self):
        import asyncio

        wanted = self.run_ids if self.run_ids is not None else self.execution_dates or []
        while True:
            answer = await _ask(
                "external_states",
                dag_id=self.dag_id,
                task_ids=None,
                task_group_id=None,
                logical_dates=None if self.run_ids is not None else [iso(date) for date in wanted],
                run_ids=self.run_ids,
            )
            states = [row["state"] for row in answer["states"]]
            if len([state for state in states if state in self.states]) >= len(wanted):
                found = {row["run_id"]: row["state"] for row in answer["states"]}
                yield TriggerEvent((*self.serialize()[:1], {**self.svc_arguments[1], **found}))
                return
            await asyncio.sleep(self.poll_interval)
