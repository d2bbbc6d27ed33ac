"""Things that can be put on either side of `>>`: tasks, groups, XComArgs, labels.

Every dependency ends in one place, `link(upstream, downstream, label)`, so that labels, groups and
setup/teardown see the same edges. Task-level edges live on the tasks as sets of ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..exceptions import AirflowException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEY = re.compile(r"^[\w.-]+$")
_GROUP_KEY = re.compile(r"^[\w-]+$")
MAX_KEY_LENGTH = 250


def validate_key(key: str, max_length: int = MAX_KEY_LENGTH) -> None:
    if not isinstance(key, str):
        raise TypeError(f"The key has to be a string and is {type(key)}:{key}")
    if len(key) > max_length:
        raise ValueError(f"The key has to be less than {max_length} characters, not {len(key)}")
    if key in (".", ".."):
        raise ValueError(f"The key {key!r} means a folder in every path and URL: choose another one")
    if not _KEY.match(key):
        raise ValueError(
            f"The key {key!r} has to be made of alphanumeric characters, dashes, dots, and underscores exclusively"
        )


def validate_group_key(key: str, max_length: int = 200) -> None:
    if not isinstance(key, str):
        raise TypeError(f"The key has to be a string and is {type(key)}:{key}")
    if len(key) > max_length:
        raise ValueError(f"The key has to be less than {max_length} characters, not {len(key)}")
    if not _GROUP_KEY.match(key):
        raise ValueError(
            f"The key {key!r} has to be made of alphanumeric characters, dashes and underscores exclusively"
        )


class DependencyMixin:
    """Operator overloading for dependencies; subclasses say what their `roots` and `leaves` are."""

    @property
    def roots(self) -> Iterable:
        raise NotImplementedError

    @property
    def leaves(self) -> Iterable:
        raise NotImplementedError

    def set_upstream(self, other, edge_modifier=None) -> None:
        raise NotImplementedError

    def set_downstream(self, other, edge_modifier=None) -> None:
        raise NotImplementedError

    def update_relative(self, other, upstream: bool = True, edge_modifier=None) -> None:
        """Called on the far side of an edge; only labels and groups care."""

    def as_setup(self):
        raise NotImplementedError

    def as_teardown(self, *, setups=None, on_failure_fail_dagrun=None):
        raise NotImplementedError

    def __lshift__(self, other):
        self.set_upstream(other)
        return other

    def __rshift__(self, other):
        self.set_downstream(other)
        return other

    # `[a, b] >> c` reaches c through the reflected operators, because a list has none.
    def __rrshift__(self, other):
        self.__lshift__(other)
        return self

    def __rlshift__(self, other):
        self.__rshift__(other)
        return self


class RelatedNode(DependencyMixin):
    """What tasks and groups share: a DAG, a group around them, and the tasks above and below."""

    dag: Any
    task_group: Any
    upstream_task_ids: set[str]
    downstream_task_ids: set[str]

    @property
    def dag_id(self) -> str:
        return self.dag.dag_id if self.dag is not None else "adhoc_airflow"

    @property
    def upstream_list(self) -> list:
        return [self.dag.get_task(task_id) for task_id in self.upstream_task_ids]

    @property
    def downstream_list(self) -> list:
        return [self.dag.get_task(task_id) for task_id in self.downstream_task_ids]

    def has_dag(self) -> bool:
        return self.dag is not None

    def get_dag(self):
        return self.dag

    def get_direct_relative_ids(self, upstream: bool = False) -> set:
        return self.upstream_task_ids if upstream else self.downstream_task_ids

    def get_direct_relatives(self, upstream: bool = False) -> list:
        return self.upstream_list if upstream else self.downstream_list

    def get_flat_relative_ids(self, *, upstream: bool = False, depth: int | None = None) -> set:
        """Returns ids of all tasks above or below. `depth`: of those that are at most so many edges away."""
        seen: set = set()
        nearest = set(self.get_direct_relative_ids(upstream))
        while nearest and depth != 0:
            seen |= nearest
            depth = None if depth is None else depth - 1
            further = (self.dag.get_task(task_id).get_direct_relative_ids(upstream) for task_id in nearest)
            nearest = set().union(*further) - seen
        return seen

    def get_flat_relatives(self, upstream: bool = False, depth: int | None = None) -> list:
        return [self.dag.get_task(task_id) for task_id in self.get_flat_relative_ids(upstream=upstream, depth=depth)]

    def iter_mapped_task_groups(self):
        """The mapped groups around it, the innermost first. A mapped group is the first itself."""
        group: Any = self if isinstance(getattr(self, "children", None), dict) else self.task_group
        while group is not None:
            if group.svc_is_mapped:
                yield group
            group = group.task_group

    def get_closest_mapped_task_group(self):
        return next(self.iter_mapped_task_groups(), None)


class TaskNode(RelatedNode):
    """What plain and mapped operators share: an id, a DAG, a group, edges."""

    task_id: str
    inlets: list
    outlets: list
    doc_md: str | None
    do_xcom_push: bool
    _task_display_name: str | None
    task_group: Any = None
    _dag: Any = None
    is_setup = False
    is_teardown = False
    on_failure_fail_dagrun = False
    returns_dag_result = False

    @property
    def dag(self):
        return self._dag

    @dag.setter
    def dag(self, dag) -> None:
        """`task.dag = dag` adds the task, as it always did."""
        self._dag = dag
        if dag is not None and self.task_id not in dag.task_dict:
            dag.add_task(self)

    @property
    def node_id(self) -> str:
        return self.task_id

    @property
    def label(self) -> str:
        """The given display name, else the id without the prefix its group gave it."""
        shown = getattr(self, "_task_display_name", None)
        if shown:
            return shown
        group = self.task_group
        if group is not None and group.node_id and group.prefix_group_id:
            return self.task_id[len(group.node_id) + 1 :]
        return self.task_id

    @property
    def roots(self) -> list:
        return [self]

    @property
    def leaves(self) -> list:
        return [self]

    def set_upstream(self, task_or_task_list, edge_modifier=None) -> None:
        self._set_relatives(task_or_task_list, upstream=True, edge_modifier=edge_modifier)

    def set_downstream(self, task_or_task_list, edge_modifier=None) -> None:
        self._set_relatives(task_or_task_list, upstream=False, edge_modifier=edge_modifier)

    def _set_relatives(self, others, *, upstream: bool, edge_modifier) -> None:
        if not isinstance(others, Iterable) or isinstance(others, DependencyMixin):
            others = [others]
        tasks = []
        for other in others:
            if not isinstance(other, DependencyMixin):
                raise TypeError(f"Relationships can only be set between Operators; received {other.__class__.__name__}")
            other.update_relative(self, upstream=not upstream, edge_modifier=edge_modifier)
            # Seen from here, the near end of an upstream group are its leaves, of a downstream one its roots.
            for task in other.leaves if upstream else other.roots:
                if not isinstance(task, TaskNode):
                    raise AirflowException(
                        f"Relationships can only be set between Operators; received {task.__class__.__name__}"
                    )
                tasks.append(task)
        for task in tasks:
            if upstream:
                link(task, self, edge_modifier)
            else:
                link(self, task, edge_modifier)


def link(up: TaskNode, down: TaskNode, edge_modifier=None) -> None:
    """The one place where a task-level edge is made."""
    if "_svc_detached" in up.__dict__ or "_svc_detached" in down.__dict__:
        # One instance of a mapped task, made at run time by an `__init__` that draws edges: the DAG's edges are final.
        return
    if up.dag is None and down.dag is None:
        raise AirflowException(
            f"Tried to create relationships between tasks that don't have DAGs yet. Set the DAG for at least one "
            f"task and try again: {[up, down]}"
        )
    if up.dag is None:
        down.dag.add_task(up)
    elif down.dag is None:
        up.dag.add_task(down)
    if up.dag is not down.dag:
        raise AirflowException(f"Tried to set relationships between tasks in more than one DAG: {[up.dag, down.dag]}")
    up.downstream_task_ids.add(down.task_id)
    down.upstream_task_ids.add(up.task_id)
    if edge_modifier is not None:
        edge_modifier.add_edge_info(up.dag, up.task_id, down.task_id)
