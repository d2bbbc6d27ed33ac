"""TaskGroup: ids with prefixes, children in definition order, edges between groups."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from ..exceptions import AirflowException, DuplicateTaskIdFound, TaskAlreadyInTaskGroup
from . import current
from .node import DependencyMixin, RelatedNode, TaskNode, validate_group_key

_SUFFIX = re.compile(r"^(.+)__(\d+)$")


def unique_id(wanted: str, taken: set) -> str:
    """`wanted`, or `wanted__1`, `wanted__2`, … the first one that is free after the highest in use."""
    if wanted not in taken:
        return wanted
    match = _SUFFIX.match(wanted)
    stem = match.group(1) if match else wanted
    highest = 0
    for known in taken:
        found = _SUFFIX.match(known) if known else None
        if found and found.group(1) == stem:
            highest = max(highest, int(found.group(2)))
    return f"{stem}__{highest + 1}"


def checked_retries(retries: int | None, what: str) -> int | None:
    """The retries of a group or of a DAG. None: not given."""
    if retries is None:
        return None
    if isinstance(retries, bool) or not isinstance(retries, int):
        raise TypeError(f"{what}: retries must be an int, not {type(retries).__name__} ({retries!r})")
    if retries < 0:
        raise ValueError(f"{what}: retries must not be negative, but is {retries}")
    return retries


class TaskGroup(RelatedNode):
    svc_is_mapped = False
    log = logging.getLogger("airflow.task_group")

    def __init__(
        self,
        group_id: str | None,
        group_display_name: str = "",
        prefix_group_id: bool = True,
        parent_group: TaskGroup | None = None,
        dag=None,
        default_args: dict | None = None,
        tooltip: str = "",
        ui_color: str = "CornflowerBlue",
        ui_fgcolor: str = "#000",
        add_suffix_on_collision: bool = False,
        project_dir: str | None = None,
        doc_md: str | None = None,
        retries: int | None = None,
    ) -> None:
        """`project_dir`: the transformation project (dbt and the like) that the tasks of the group run, relative to the
        DAG's directory; an image of the DAG carries it. `retries`: how often the tasks of the group that have failed are
        tried again, together, after their own retries. Airflow has no such arguments: pass them only to svc."""
        self.prefix_group_id = prefix_group_id
        self.default_args = dict(default_args or {})
        self.tooltip = tooltip
        self.doc_md = doc_md
        self.ui_color = ui_color
        self.ui_fgcolor = ui_fgcolor
        self.group_display_name = group_display_name
        self.project_dir = project_dir
        self.retries = checked_retries(retries, f"task group '{group_id}'")
        self.add_suffix_on_collision = add_suffix_on_collision
        self.children: dict = {}
        self.upstream_group_ids: set = set()
        self.downstream_group_ids: set = set()
        self.upstream_task_ids: set = set()
        self.downstream_task_ids: set = set()
        self._group_id = group_id
        if group_id is None:
            # The root group of a DAG: no id, no parent, owns the set of ids in use.
            self.dag = dag
            self.parent_group = None
            self.used_group_ids: set = set()
            return
        validate_group_key(group_id)
        self.dag = dag or (parent_group.dag if parent_group else None) or current.current_dag()
        self.parent_group = parent_group or (current.current_group(self.dag) if self.dag else None)
        if self.parent_group is None:
            raise RuntimeError("TaskGroup can only be used inside a dag")
        self.used_group_ids = self.parent_group.used_group_ids
        self._group_id = self._free_id(group_id, self.parent_group, add_suffix_on_collision)
        self.parent_group.add(self)
        self.used_group_ids.add(self.group_id)
        if self.group_id:
            self.used_group_ids.add(self.upstream_join_id)
            self.used_group_ids.add(self.downstream_join_id)

    def _free_id(self, wanted: str, parent: TaskGroup, add_suffix: bool) -> str:
        if self.group_id not in self.used_group_ids:
            return wanted
        if not add_suffix:
            raise DuplicateTaskIdFound(f"group_id '{wanted}' has already been added to the DAG")
        prefix = f"{parent.group_id}." if parent.group_id and parent.prefix_group_id else ""
        taken = {known[len(prefix) :] for known in self.used_group_ids if known and known.startswith(prefix)}
        return unique_id(wanted, taken)

    @classmethod
    def create_root(cls, dag) -> TaskGroup:
        return cls(group_id=None, dag=dag)

    @property
    def is_root(self) -> bool:
        return not self._group_id

    @property
    def group_id(self) -> str | None:
        parent = self.parent_group
        if self._group_id is not None and parent is not None and parent.prefix_group_id and parent.node_id:
            return parent.child_id(self._group_id)
        return self._group_id

    @property
    def node_id(self) -> str | None:
        return self.group_id

    @property
    def task_group(self):
        return self.parent_group

    @property
    def label(self) -> str | None:
        return self.group_display_name or self._group_id

    @property
    def upstream_join_id(self) -> str:
        return f"{self.group_id}.upstream_join_id"

    @property
    def downstream_join_id(self) -> str:
        return f"{self.group_id}.downstream_join_id"

    def child_id(self, label: str) -> str:
        group_id = self.group_id
        return f"{group_id}.{label}" if self.prefix_group_id and group_id else label

    def add(self, task):
        """Adds a task or a group."""
        key = task.node_id
        existing_group = getattr(task, "task_group", None)
        if existing_group is not None and existing_group is not self and isinstance(task, TaskNode):
            raise TaskAlreadyInTaskGroup(
                f"cannot add '{task.node_id}' to '{self.group_id or 'the DAG'}': it is already in "
                f"'{existing_group.node_id}'"
            )
        if key in self.children:
            kind = "Task" if isinstance(self.children[key], TaskNode) else "group"
            raise DuplicateTaskIdFound(f"{kind} id '{key}' has already been added to the DAG")
        if isinstance(task, TaskGroup) and task.children:
            raise AirflowException("Cannot add a non-empty TaskGroup")
        self.children[key] = task
        return task

    def __enter__(self):
        current.group_stack.append(self)
        return self

    def __exit__(self, exc_type, exc, traceback) -> None:
        current.group_stack.pop()

    def __iter__(self):
        for child in self.children.values():
            if isinstance(child, TaskGroup):
                yield from child
            else:
                yield child

    def iter_tasks(self):
        return iter(self)

    def has_task(self, task) -> bool:
        return any(child is task for child in self)

    def get_child_by_label(self, label: str):
        return self.children[self.child_id(label)]

    def get_roots(self) -> list:
        """Tasks with no upstream inside this group."""
        ids = {task.task_id for task in self}
        return [task for task in self if not (task.upstream_task_ids & ids)]

    def get_leaves(self) -> list:
        """Tasks with no downstream inside this group; teardowns do not count, what they wait for does."""
        tasks = {task.task_id: task for task in self}
        found: list = []

        def visit(task) -> None:
            if task in found:
                return
            if task.is_teardown:
                # Groups are joined around their teardowns: what stands before one is the leaf.
                for upstream_id in sorted(task.upstream_task_ids):
                    upstream = tasks.get(upstream_id)
                    if upstream is not None and not upstream.is_setup:
                        visit(upstream)
            elif (
                task.is_setup
                and any(tasks[i].is_teardown for i in task.downstream_task_ids if i in tasks)
                and len(tasks) > 1
            ):
                pass
            else:
                found.append(task)

        for task in tasks.values():
            if not (task.downstream_task_ids & tasks.keys()):
                visit(task)
        return found

    @property
    def roots(self) -> list:
        return self.get_roots()

    @property
    def leaves(self) -> list:
        return self.get_leaves()

    def _note_relative(self, other, upstream: bool) -> None:
        """Remembers group-level edges, which the graph view draws between the boxes."""
        if isinstance(other, TaskGroup):
            mine, theirs = (
                (self.upstream_group_ids, other.downstream_group_ids)
                if upstream
                else (self.downstream_group_ids, other.upstream_group_ids)
            )
            mine.add(other.group_id)
            theirs.add(self.group_id)
            return
        for task in other.leaves if upstream else other.roots:
            if not isinstance(task, TaskNode):
                raise AirflowException(
                    f"Relationships can only be set between TaskGroup or operators; received {type(task).__name__}"
                )
            (self.upstream_task_ids if upstream else self.downstream_task_ids).add(task.node_id)

    def update_relative(self, other, upstream: bool = True, edge_modifier=None) -> None:
        """A task on the other side of an edge tells us about it; the label goes to the box as well."""
        if not isinstance(other, TaskNode):
            return
        self._note_relative(other, upstream)
        if edge_modifier is not None:
            ends = (other.node_id, self.upstream_join_id) if upstream else (self.downstream_join_id, other.node_id)
            edge_modifier.add_edge_info(self.dag, *ends)

    def _set_relatives(self, others, upstream: bool, edge_modifier=None) -> None:
        from .edges import EdgeModifier

        if isinstance(others, DependencyMixin) or not isinstance(others, Iterable):
            others = [others]
        for other in others:
            if isinstance(other, EdgeModifier):
                other.update_relative(self, upstream=not upstream, edge_modifier=edge_modifier)
                continue
            self._note_relative(other, upstream)
            if edge_modifier is not None:
                self._label(other, upstream, edge_modifier)
            near = self.get_roots() if upstream else (self.get_leaves() or self._tasks_before())
            for task in near:
                if upstream:
                    task.set_upstream(other)
                else:
                    task.set_downstream(other)

    def _tasks_before(self) -> list:
        """Stand for the leaves of a group without tasks: `a >> group >> b` links a to b, as on Airflow."""
        groups = self.dag.task_group_dict
        found = {task_id: self.dag.get_task(task_id) for task_id in sorted(self.upstream_task_ids)}
        for group_id in sorted(self.upstream_group_ids):
            group = groups[group_id]
            for task in group.get_leaves() or group._tasks_before():
                found[task.task_id] = task
        return list(found.values())

    def _label(self, other, upstream: bool, edge_modifier) -> None:
        """Between two boxes the label belongs to the line between their joins."""
        if isinstance(other, TaskGroup):
            far = other.downstream_join_id if upstream else other.upstream_join_id
        else:
            far = (other.leaves if upstream else other.roots)[0].node_id
        ends = (far, self.upstream_join_id) if upstream else (self.downstream_join_id, far)
        edge_modifier.add_edge_info(self.dag, *ends)

    def set_upstream(self, task_or_task_list, edge_modifier=None) -> None:
        self._set_relatives(task_or_task_list, upstream=True, edge_modifier=edge_modifier)

    def set_downstream(self, task_or_task_list, edge_modifier=None) -> None:
        self._set_relatives(task_or_task_list, upstream=False, edge_modifier=edge_modifier)

    def as_setup(self):
        raise AirflowException("Cannot set a TaskGroup as setup; mark the tasks inside it")

    def as_teardown(self, *, setups=None, on_failure_fail_dagrun=None):
        raise AirflowException("Cannot set a TaskGroup as teardown; mark the tasks inside it")

    def topological_sort(self) -> list:
        return list(self.children.values())

    def hierarchical_alphabetical_sort(self) -> list:
        """Returns the children by label, groups before tasks."""
        return sorted(self.children.values(), key=lambda node: (not isinstance(node, TaskGroup), node.label))

    def get_task_group_dict(self) -> dict:
        """Returns this group and all groups in it by id. The root of a DAG has the id None."""
        found = {self.group_id: self}
        for child in self.children.values():
            if isinstance(child, TaskGroup):
                found.update(child.get_task_group_dict())
        return found

    def __repr__(self) -> str:
        return f"<TaskGroup: {self.group_id}>"


class MappedTaskGroup(TaskGroup):
    """A group whose whole body is repeated once per item of `expand_input`."""

    svc_is_mapped = True

    def __init__(self, *, expand_input, **kwargs) -> None:
        super().__init__(**kwargs)
        self.expand_input = expand_input

    def __exit__(self, exc_type, exc, traceback) -> None:
        # Every entry task waits for the values the group is expanded over.
        for operator in self.expand_input.iter_operators():
            self.set_upstream(operator)
        super().__exit__(exc_type, exc, traceback)
