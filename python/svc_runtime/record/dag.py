"""DAG: as object, context manager and (through `dag`) decorator."""

from __future__ import annotations

import datetime
import functools
import inspect
import os
import sys
from types import FrameType

from ..exceptions import AirflowException, DuplicateTaskIdFound, TaskNotFound
from . import current
from .base_args import SLA_ADVICE, as_list
from .group import TaskGroup, checked_retries
from .node import TaskNode, validate_key
from .notset import NOTSET
from .params import DagParam, Param, ParamsDict
from .schedule_argument import timetable_from_schedule
from .timezones import to_utc, zone_name

# Words of Airflow 2: what each is called now; None for those without effect.
_REMOVED = {
    "schedule_interval": "schedule",
    "timetable": "schedule",
    "concurrency": "max_active_tasks",
    "fail_stop": "fail_fast",
    "default_view": None,
    "orientation": None,
    "full_filepath": None,
}


class DAG:
    def __init__(
        self,
        dag_id: str,
        description: str | None = None,
        *,
        schedule=None,
        start_date=None,
        end_date=None,
        template_searchpath=None,
        template_undefined=None,
        user_defined_macros: dict | None = None,
        user_defined_filters: dict | None = None,
        default_args: dict | None = None,
        max_active_tasks: int = 16,
        max_active_runs: int = 16,
        max_consecutive_failed_dag_runs: int = 0,
        dagrun_timeout: datetime.timedelta | None = None,
        deadline=None,
        sla_miss_callback=None,
        catchup: bool = False,
        on_success_callback=None,
        on_failure_callback=None,
        doc_md: str | None = None,
        params=None,
        access_control: dict | None = None,
        is_paused_upon_creation: bool | None = None,
        jinja_environment_kwargs: dict | None = None,
        render_template_as_native_obj: bool = False,
        tags=None,
        owner_links: dict | None = None,
        auto_register: bool = True,
        fail_fast: bool = False,
        allowed_run_types=None,
        dag_display_name: str | None = None,
        task_group: TaskGroup | None = None,
        disable_bundle_versioning: bool = False,
        rerun_with_latest_version: bool | None = None,
        retries: int | None = None,
        **removed,
    ) -> None:
        for name, value in removed.items():
            if name not in _REMOVED:
                raise TypeError(f"DAG.__init__() got an unexpected keyword argument '{name}'")
            new = _REMOVED[name]
            if new is None:
                current.warn_here(f"{name}= has no effect: remove it; `svc fix` does")
                continue
            current.warn_here(f"{name}= is an old spelling; write {new}=; `svc fix` rewrites it")
            if new == "schedule" and schedule is None:
                schedule = value
            elif new == "schedule":
                raise TypeError(f"DAG '{dag_id}' is given both schedule and {name}; remove {name}")
            elif new == "fail_fast":
                fail_fast = value
            else:
                max_active_tasks = value
        if sla_miss_callback is not None:
            current.warn_here(f"sla_miss_callback= has no effect: {SLA_ADVICE}")
        if default_args and default_args.get("sla") is not None:
            current.warn_here(f"sla in default_args has no effect: {SLA_ADVICE}")
        validate_key(dag_id)
        self.dag_id = dag_id
        self.description = description
        self.default_args = dict(default_args or {})
        self.params = ParamsDict(params)
        # Params in default_args belong to the DAG as well, and win, as in Airflow.
        for name, param in ParamsDict(self.default_args.pop("params", None)).param_items():
            self.params[name] = param
        given_start = start_date if start_date is not None else self.default_args.get("start_date")
        given_end = end_date if end_date is not None else self.default_args.get("end_date")
        self.timezone = _zone_of(given_start)
        self.start_date = to_utc(given_start)
        self.end_date = to_utc(given_end)
        self.schedule = schedule
        self.timetable = timetable_from_schedule(schedule, self.timezone)
        self.template_searchpath = (
            [str(template_searchpath)]
            if isinstance(template_searchpath, (str, os.PathLike))
            else ([str(path) for path in template_searchpath] if template_searchpath else None)
        )
        self.template_undefined = template_undefined
        self.user_defined_macros = user_defined_macros
        self.user_defined_filters = user_defined_filters
        self.max_active_tasks = max_active_tasks
        self.max_active_runs = max_active_runs
        self.max_consecutive_failed_dag_runs = max_consecutive_failed_dag_runs
        self.dagrun_timeout = _timeout(dagrun_timeout)
        self.deadline = as_list(deadline)
        self.catchup = catchup
        self.on_success_callback = on_success_callback
        self.on_failure_callback = on_failure_callback
        self.has_on_success_callback = on_success_callback is not None
        self.has_on_failure_callback = on_failure_callback is not None
        self.doc_md = _load_doc(doc_md)
        self.access_control = access_control
        self.is_paused_upon_creation = is_paused_upon_creation
        self.jinja_environment_kwargs = jinja_environment_kwargs
        self.render_template_as_native_obj = render_template_as_native_obj
        self.tags = _tags(tags)
        self.owner_links = owner_links or {}
        self.auto_register = auto_register
        self.fail_fast = fail_fast
        self.allowed_run_types = sorted({str(kind) for kind in as_list(allowed_run_types)}) or None
        self._dag_display_name = dag_display_name
        self.disable_bundle_versioning = disable_bundle_versioning
        self.rerun_with_latest_version = rerun_with_latest_version
        self.retries = checked_retries(retries, f"DAG '{dag_id}'")
        self.task_dict: dict = {}
        self.edge_info: dict = {}
        self.fileloc = _caller_file()
        # Known when a version is loaded for its tasks.
        self.relative_fileloc: str | None = None
        self.task_group = task_group or TaskGroup.create_root(self)
        self.task_group.dag = self
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name in ("max_active_tasks", "max_active_runs", "max_consecutive_failed_dag_runs"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"DAG '{self.dag_id}': '{name}' must be an int, not {type(value).__name__} ({value!r})")
        limit = getattr(self.timetable, "active_runs_limit", None)
        if limit is not None and self.max_active_runs > limit:
            raise ValueError(
                f"Invalid max_active_runs: {type(self.timetable).__name__} requires max_active_runs <= {limit}"
            )

    @property
    def dag_display_name(self) -> str:
        return self._dag_display_name or self.dag_id

    @property
    def tasks(self) -> list:
        return list(self.task_dict.values())

    @property
    def task_ids(self) -> list:
        return list(self.task_dict)

    @property
    def roots(self) -> list:
        return [task for task in self.tasks if not task.upstream_task_ids]

    @property
    def leaves(self) -> list:
        return [task for task in self.tasks if not task.downstream_task_ids]

    @property
    def owner(self) -> str:
        return ", ".join({task.owner: None for task in self.tasks})

    @property
    def folder(self) -> str:
        return os.path.dirname(self.fileloc)

    @property
    def timetable_summary(self):
        return getattr(self.timetable, "summary", None)

    @property
    def task_group_dict(self) -> dict:
        found: dict = {}
        pending = [self.task_group]
        while pending:
            group = pending.pop()
            found[group.group_id] = group
            pending.extend(child for child in group.children.values() if isinstance(child, TaskGroup))
        return found

    def param(self, name: str, default=NOTSET) -> DagParam:
        return DagParam(current_dag=self, name=name, default=default)

    def add_task(self, task) -> None:
        current.check_task_budget(self)
        task_id = task.task_id
        known = self.task_dict.get(task_id)
        if (known is not None and known is not task) or task_id in self.task_group.used_group_ids:
            raise DuplicateTaskIdFound(f"Task id '{task_id}' has already been added to the DAG")
        if task.task_group is None:
            self.task_group.add(task)
            task.task_group = self.task_group
        # A task may not start before its DAG does, nor end after it.
        if self.start_date is not None:
            task.start_date = max(self.start_date, task.start_date) if task.start_date else self.start_date
        if self.end_date is not None:
            task.end_date = min(self.end_date, task.end_date) if task.end_date else self.end_date
        self.task_dict[task_id] = task
        task.dag = self

    def add_tasks(self, tasks) -> None:
        for task in tasks:
            self.add_task(task)

    def add_result(self, xcom_arg):
        """Makes what the task returns the result of the DAG: it is the last line of `…/dagRuns/{run_id}/wait`."""
        from .xcomarg import XCOM_RETURN_KEY, PlainXComArg

        if not isinstance(xcom_arg, PlainXComArg) or xcom_arg.key != XCOM_RETURN_KEY:
            raise ValueError("Only plain return value can be used as dag result")
        xcom_arg.operator.returns_dag_result = True
        return xcom_arg

    def has_task(self, task_id: str) -> bool:
        return task_id in self.task_dict

    @property
    def task(self):
        """`@dag.task`: as `@task`, for this DAG wherever it stands."""
        import importlib

        # By name: decorators are made of what is recorded here.
        return importlib.import_module("svc_runtime.decorators.task").TaskDecoratorCollection(dag=self)

    def get_task(self, task_id: str):
        if task_id not in self.task_dict:
            raise TaskNotFound(f"Task {task_id} not found")
        return self.task_dict[task_id]

    def has_task_group(self, task_group_id: str) -> bool:
        return task_group_id in self.task_group_dict

    @property
    def teardowns(self) -> list:
        return [task for task in self.tasks if task.is_teardown]

    @property
    def tasks_upstream_of_teardowns(self) -> list:
        return [task for teardown in self.teardowns for task in teardown.upstream_list if not task.is_teardown]

    def set_dependency(self, upstream_task_id: str, downstream_task_id: str) -> None:
        self.get_task(upstream_task_id).set_downstream(self.get_task(downstream_task_id))

    def get_edge_info(self, upstream_task_id: str, downstream_task_id: str) -> dict:
        return self.edge_info.get(upstream_task_id, {}).get(downstream_task_id, {})

    def set_edge_info(self, upstream_task_id: str, downstream_task_id: str, info: dict) -> None:
        self.edge_info.setdefault(upstream_task_id, {})[downstream_task_id] = info

    def topological_sort(self) -> list:
        from .topology import topological_order

        return topological_order(self)

    def resolve_template_files(self) -> None:
        for task in self.tasks:
            if isinstance(task, TaskNode) and hasattr(task, "resolve_template_files"):
                task.resolve_template_files()

    def get_template_env(self, *, force_sandboxed: bool = False):
        from .templating import template_environment

        return template_environment(None, self)

    def test(
        self,
        run_after: datetime.datetime | None = None,
        logical_date=NOTSET,
        run_conf: dict | None = None,
        conn_file_path: str | None = None,
        variable_file_path: str | None = None,
        use_executor: bool = False,
        mark_success_pattern=None,
    ):
        """Runs the DAG once, in this process, and returns the run."""
        import importlib

        if current.is_compiling:
            raise AirflowException(
                "dag.test() is not available while a file is compiled; guard it with `if __name__ == '__main__':`"
            )
        # By name: what runs DAGs is made of what is recorded here.
        return importlib.import_module("svc_runtime.dag_test.test_dag").test_dag(
            self,
            run_after=run_after,
            logical_date=logical_date,
            run_conf=run_conf,
            conn_file_path=conn_file_path,
            variable_file_path=variable_file_path,
            use_executor=use_executor,
            mark_success_pattern=mark_success_pattern,
        )

    def cli(self) -> None:
        self.test()

    def __enter__(self):
        current.dag_stack.append(self)
        current.group_stack.append(self.task_group)
        return self

    def __exit__(self, exc_type, exc, traceback) -> None:
        current.group_stack.pop()
        current.dag_stack.pop()
        if exc_type is None:
            current.collect(self)

    def __repr__(self) -> str:
        return f"<DAG: {self.dag_id}>"

    def __eq__(self, other) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _zone_of(start_date) -> str:
    if isinstance(start_date, str):
        from .timezones import parse_iso

        start_date = parse_iso(start_date)
    return zone_name(getattr(start_date, "tzinfo", None))


def _timeout(value):
    if value is None or isinstance(value, datetime.timedelta):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return datetime.timedelta(seconds=value)
    raise TypeError(f"dagrun_timeout must be a timedelta, not {type(value).__name__} ({value!r})")


def _tags(tags) -> set[str]:
    if isinstance(tags, str):
        # Airflow loads such a file, with a tag for each letter.
        current.warn_here(f"tags= has one text instead of a list, and became one tag; write tags=[{tags!r}]")
        tags = [tags]
    found = {str(tag) for tag in tags or ()}
    for tag in sorted(found):
        if len(tag) > 100:
            raise AirflowException(f"tag cannot be longer than 100 characters: {tag!r}")
    return found


def _load_doc(doc_md: str | None) -> str | None:
    """A doc_md that names a Markdown file is replaced by the file's text."""
    if not isinstance(doc_md, str) or not doc_md.endswith(".md") or "\n" in doc_md:
        return doc_md
    try:
        with open(doc_md, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return doc_md


def _caller_file() -> str:
    """The first frame outside this package: the DAG file (or the helper that builds DAGs)."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(here) and not filename.startswith("<"):
            return filename
        frame = frame.f_back
    return ""


def dag(dag_id_or_func=None, __DAG_class=DAG, __warnings_stacklevel_delta=2, **decorator_kwargs):
    """`@dag` and `@dag(...)`; the function's arguments become params, its docstring the doc_md."""
    if decorator_kwargs.get("dag_id") is not None and isinstance(dag_id_or_func, str):
        raise TypeError("@dag takes dag_id once, not twice")

    def wrapper(function):
        @functools.wraps(function)
        def factory(*args, **kwargs):
            signature = inspect.signature(function)
            bound = signature.bind_partial(*args, **kwargs)
            bound.apply_defaults()
            options = dict(decorator_kwargs)
            dag_id = options.pop("dag_id", None) or (
                dag_id_or_func if isinstance(dag_id_or_func, str) else function.__name__
            )
            with DAG(dag_id, **options) as built:
                if function.__doc__ and built.doc_md is None:
                    built.doc_md = function.__doc__
                arguments = {}
                for name in signature.parameters:
                    # A function argument is a param: its given value or its default, else required.
                    value = bound.arguments.get(name, NOTSET)
                    if isinstance(value, Param):
                        built.params[name] = value
                        value = NOTSET
                    arguments[name] = built.param(name, value)
                function(**arguments)
            return built

        return factory

    return wrapper(dag_id_or_func) if callable(dag_id_or_func) else wrapper
