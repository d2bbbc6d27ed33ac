"""`TaskInstanceKey`: where a task instance stands, as hooks, links and values name it."""

from __future__ import annotations

from collections import namedtuple


class TaskInstanceKey(namedtuple("TaskInstanceKey", "dag_id task_id run_id try_number map_index", defaults=(1, -1))):
    __slots__ = ()

    @property
    def primary(self) -> tuple:
        return self.dag_id, self.task_id, self.run_id, self.map_index

    @property
    def key(self) -> TaskInstanceKey:
        return self

    @property
    def reduced(self) -> TaskInstanceKey:
        """The try before."""
        return self._replace(try_number=max(1, self.try_number - 1))

    def with_try_number(self, try_number: int) -> TaskInstanceKey:
        return self._replace(try_number=try_number)
