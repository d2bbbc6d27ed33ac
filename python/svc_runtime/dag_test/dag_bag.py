"""`DagBag` for tests: the DAGs of a folder, loaded in this process, and the errors of files that do not load.

Each DAG is compiled as well, so what a server would refuse is an import error here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections import namedtuple
from types import ModuleType

from ..compile.dag_spec import dag_spec
from ..compile.load import describe, find_dags, module_name, read_source
from ..exceptions import RecordingError
from ..record import current, provider_stubs
from .ignored import dag_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..record.dag import DAG

FileLoadStat = namedtuple("FileLoadStat", "file duration dag_num task_num dags warning_num")


class DagBag:
    def __init__(
        self,
        dag_folder: str | os.PathLike | None = None,
        include_examples: bool | None = None,
        safe_mode: bool = True,
        load_op_links: bool = True,
        collect_dags: bool = True,
        known_pools: set[str] | None = None,
        bundle_path: str | os.PathLike | None = None,
        bundle_name: str | None = None,
        **_,
    ) -> None:
        if current.is_compiling:
            raise RecordingError(
                "DagBag is for tests: other DAGs cannot be looked up from a DAG file or a task", "Use the REST API"
            )
        self.dag_folder = os.path.abspath(os.fspath(dag_folder)) if dag_folder is not None else _default_folder()
        self.dags: dict[str, DAG] = {}
        self.import_errors: dict[str, str] = {}
        self.svc_failures: dict[str, dict[str, Any]] = {}
        self.dagbag_stats: list[FileLoadStat] = []
        self.dag_warnings: set = set()
        self.captured_warnings: dict[str, tuple[str, ...]] = {}
        self._root = os.path.abspath(os.fspath(bundle_path)) if bundle_path is not None else _folder_of(self.dag_folder)
        if collect_dags:
            self.collect_dags(self.dag_folder, safe_mode=safe_mode)

    @property
    def dag_ids(self) -> list[str]:
        return list(self.dags)

    @property
    def log(self) -> logging.Logger:
        return logging.getLogger("airflow.dag_test")

    def size(self) -> int:
        return len(self.dags)

    def get_dag(self, dag_id: str, session=None) -> DAG | None:
        return self.dags.get(dag_id)

    def collect_dags(self, dag_folder=None, *, safe_mode: bool = True, **_) -> None:
        folder = os.path.abspath(os.fspath(dag_folder)) if dag_folder is not None else self.dag_folder
        for path in [folder] if os.path.isfile(folder) else dag_files(folder):
            began = time.monotonic()
            found = self.process_file(path, safe_mode=safe_mode)
            self.dagbag_stats.append(
                FileLoadStat(
                    file=os.path.relpath(path, self._root),
                    duration=time.monotonic() - began,
                    dag_num=len(found),
                    task_num=sum(len(dag.tasks) for dag in found),
                    dags=str([dag.dag_id for dag in found]),
                    warning_num=len(self.captured_warnings.get(path, ())),
                )
            )

    def process_file(self, filepath, only_if_updated: bool = True, safe_mode: bool = True) -> list[DAG]:
        """The DAGs of one file; none when it does not load."""
        path = os.path.abspath(os.fspath(filepath))
        try:
            text = read_source(path, path)
            if safe_mode and not _may_define_dags(text):
                return []
            found = self._load(path, text)
        except BaseException as error:  # a DAG file may raise anything, SystemExit included
            if isinstance(error, KeyboardInterrupt):
                raise
            told = self.svc_failures[path] = _told(error, path)
            parts = (told["traceback"].rstrip() or told["message"], told["instead"])
            self.import_errors[path] = "\n".join(part for part in parts if part)
            return []
        for dag in found:
            self.dags[dag.dag_id] = dag
        self.import_errors.pop(path, None)
        self.svc_failures.pop(path, None)
        return found

    def bag_dag(self, dag: DAG) -> None:
        """Adds a DAG that a test has made."""
        self._check(dag, dag.fileloc)
        self.dags[dag.dag_id] = dag

    def dagbag_report(self) -> str:
        lines = [f"DagBag of {self.dag_folder}: {self.size()} DAGs, {len(self.import_errors)} import errors"]
        lines += [
            f"{one.file}: {one.dag_num} DAGs, {one.task_num} tasks, {one.duration:.3f} s" for one in self.dagbag_stats
        ]
        return "\n".join(lines)

    def _load(self, path: str, text: str) -> list[DAG]:
        with _loading(self._root):
            module = ModuleType(module_name(path))
            module.__file__ = path
            sys.modules[module.__name__] = module
            exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
            found = find_dags(module)
            for dag in found:
                self._check(dag, path)
            if current.warnings:
                self.captured_warnings[path] = tuple(current.warnings)
            return found

    def _check(self, dag: DAG, path: str) -> None:
        known = self.dags.get(dag.dag_id)
        if known is not None and known.fileloc != dag.fileloc:
            raise RecordingError(
                f"DAG '{dag.dag_id}' is defined in {known.fileloc} as well", "Give each DAG an id of its own"
            )
        source = {"path": os.path.relpath(path, self._root), "text": "", "sha256": "", "module": "", "modules": []}
        dag_spec(dag, source=source, tree=None, dags_folder=self._root)


@contextlib.contextmanager
def _loading(root: str) -> Iterator[None]:
    """A file is loaded as it is compiled: operators of provider packages that are not installed are recorded."""
    _reach_modules_of(root)
    current.reset()
    before = set(sys.modules)
    provider_stubs.install()
    current.is_compiling = True
    try:
        yield
    finally:
        current.is_compiling = False
        provider_stubs.uninstall()
        # What was recorded is not there for the test itself, and is recorded again for the next file.
        for name in set(sys.modules) - before:
            if provider_stubs.is_recorded(sys.modules[name]):
                del sys.modules[name]


def _reach_modules_of(root: str) -> None:
    """As on Airflow: the folder of DAGs and the folder of plugins are on the path."""
    for folder in (root, os.path.join(os.path.dirname(root), "plugins")):
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)


def _folder_of(place: str) -> str:
    return os.path.dirname(place) if os.path.isfile(place) else place


def _default_folder() -> str:
    given = os.environ.get("AIRFLOW__CORE__DAGS_FOLDER") or os.environ.get("SVC_DAGS_FOLDER")
    if given:
        return os.path.abspath(given)
    return os.path.join(os.environ.get("AIRFLOW_HOME") or os.getcwd(), "dags")


def _may_define_dags(text: str) -> bool:
    """Airflow's `safe_mode`: other files are not executed."""
    lowered = text.lower()
    return "dag" in lowered and ("airflow" in lowered or "svc" in lowered or "cosmos" in lowered)


def _told(error: BaseException, path: str) -> dict[str, Any]:
    """As the compiler tells of it."""
    from ..compile.load import LoadError

    return error.error if isinstance(error, LoadError) else describe(error, path, path)
