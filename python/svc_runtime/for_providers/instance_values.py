"""`XCom` as classes of providers use it: values of any instance, by where they stand."""

from __future__ import annotations

import asyncio

from ..record.notset import NOTSET
from ..run import current
from ..run.instance_key import TaskInstanceKey
from ..run.xcom_values import decode
from ..run.xcoms import RETURN_KEY

__all__ = ["BaseXCom", "TaskInstanceKey", "XCom"]


def _instance():
    return current.get_current_context()["ti"]


class BaseXCom:
    XCOM_RETURN_KEY = RETURN_KEY

    @classmethod
    def get_value(cls, *, ti_key, key: str):
        """`ti_key`: anything with the names of a task instance. None when there is none."""
        return cls.get_one(
            key=key, dag_id=ti_key.dag_id, task_id=ti_key.task_id, run_id=ti_key.run_id, map_index=ti_key.map_index
        )

    @classmethod
    def get_one(
        cls,
        *,
        key: str,
        dag_id: str,
        task_id: str,
        run_id: str,
        map_index: int | None = None,
        include_prior_dates: bool = False,
    ):
        ti = _instance()
        index = -1 if map_index is None else map_index
        own = (dag_id, task_id, run_id, index) == (ti.dag_id, ti.task_id, ti.run_id, ti.map_index)
        if own and key in ti.xcoms.own:
            return ti.xcoms.values.of(ti.xcoms.own[key])
        # What travels with the result: for the links of a task that has just ended.
        for entry in ti.svc_left if own else ():
            if entry["key"] == key:
                return ti.xcoms.values.of(entry)
        value = ti.xcoms.one(task_id, key, index, dag_id=dag_id, run_id=run_id, prior=include_prior_dates)
        return None if value is NOTSET else value

    @classmethod
    def get_all(cls, *, key: str, dag_id: str, task_id: str, run_id: str, include_prior_dates: bool = False):
        ti = _instance()
        found = ti.xcoms.entries(task_id, key, dag_id=dag_id, run_id=run_id, prior=include_prior_dates)
        return [ti.xcoms.values.of(entry) for entry in found]

    @classmethod
    def set(cls, key: str, value, *, dag_id: str, task_id: str, run_id: str, map_index: int = -1, **_) -> None:
        ti = _instance()
        if (dag_id, task_id, run_id, map_index) != (ti.dag_id, ti.task_id, ti.run_id, ti.map_index):
            raise PermissionError(
                f"a task may set values of its own only: this is {ti.dag_id}.{ti.task_id}, not {dag_id}.{task_id}"
            )
        ti.xcom_push(key, value)

    @classmethod
    def delete(cls, key: str, task_id: str, dag_id: str, run_id: str, map_index: int | None = None) -> None:
        ti = _instance()
        index = -1 if map_index is None else map_index
        if (dag_id, task_id, run_id, index) != (ti.dag_id, ti.task_id, ti.run_id, ti.map_index):
            raise PermissionError(f"a task may delete values of its own only: this is {ti.dag_id}.{ti.task_id}")
        ti.xcoms.delete(key)

    # For coroutines: a question to the control plane may take a moment, and other coroutines run in that time.

    @classmethod
    async def aget_value(cls, *, ti_key, key: str):
        return await asyncio.to_thread(cls.get_value, ti_key=ti_key, key=key)

    @classmethod
    async def aget_one(
        cls,
        *,
        key: str,
        dag_id: str,
        task_id: str,
        run_id: str,
        map_index: int | None = None,
        include_prior_dates: bool = False,
    ):
        place: dict = {"dag_id": dag_id, "task_id": task_id, "run_id": run_id, "map_index": map_index}
        return await asyncio.to_thread(cls.get_one, key=key, **place, include_prior_dates=include_prior_dates)

    @classmethod
    async def aget_all(cls, *, key: str, dag_id: str, task_id: str, run_id: str, include_prior_dates: bool = False):
        place = {"dag_id": dag_id, "task_id": task_id, "run_id": run_id}
        return await asyncio.to_thread(cls.get_all, key=key, **place, include_prior_dates=include_prior_dates)

    @classmethod
    async def aset(cls, key: str, value, *, dag_id: str, task_id: str, run_id: str, map_index: int = -1, **_) -> None:
        place: dict = {"dag_id": dag_id, "task_id": task_id, "run_id": run_id, "map_index": map_index}
        await asyncio.to_thread(cls.set, key, value, **place)

    @staticmethod
    def serialize_value(value, *, key=None, task_id=None, dag_id=None, run_id=None, map_index=None):
        from ..run.xcom_values import encode

        return encode(value)

    @staticmethod
    def deserialize_value(result):
        return decode(getattr(result, "value", result))

    @staticmethod
    def purge(xcom, *args) -> None:
        """For subclasses that keep values elsewhere."""


XCom = BaseXCom
