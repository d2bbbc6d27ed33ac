"""Executes the DAG file of one version, from the text that was registered, not from what the disk holds by now."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
import traceback
from types import ModuleType

from .. import bundle_path
from ..plugins.loader import add_links, load_plugins
from ..plugins.local_settings import FILE as SETTINGS_FILE
from ..plugins.local_settings import load_local_settings
from ..record import current as recording
from ..record import templating
from ..run import current, old_context
from . import kubernetes_models

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..plugins.local_settings import LocalSettings
    from ..record.dag import DAG


class LoadFailed(Exception):
    def __init__(self, error: str, trace: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.traceback = trace


def load_version(request: dict) -> DAG:
    """The DAG object that the agent asked for."""
    import airflow  # noqa: F401  installs the import paths

    source = request["source"]
    path = request["fileloc"]
    folder = request["dags_folder"]
    bundle_path.enter(path=path, root=folder, bundle=request.get("bundle"))
    current.parsing_context.dag_id = request["dag_id"]
    text = source["text"]
    # Tracebacks and inspect.getsource() show the version that runs, even when the file was changed or removed.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    templating.version_files.update(source.get("files") or {})
    module = ModuleType(source["module"])
    module.__file__ = path
    sys.modules[module.__name__] = module
    recording.reset()
    recording.is_compiling = True
    recording.limits.max_tasks = sys.maxsize
    try:
        load_plugins(folder, request.get("bundle"))
        policies = load_local_settings()
        with kubernetes_models.StandingIn(os.path.dirname(path), folder):
            exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:  # a DAG file may raise anything, SystemExit and KeyboardInterrupt included
        trace = "".join(traceback.format_exception(error))[-8000:]
        raise LoadFailed(f"{type(error).__name__}: {error}"[:2000], trace) from None
    old_context.look_at([text, *templating.version_files.values(), *_module_texts(folder)])
    dag = _the_dag(module, request["dag_id"])
    dag.relative_fileloc = os.path.relpath(path, folder) if path.startswith(folder + os.sep) else os.path.basename(path)
    if policies is not None:
        _apply(policies, dag)
    add_links(dag)
    return dag


def _apply(policies: LocalSettings, dag: DAG) -> None:
    """The task gets the attributes that the policies gave it when the file was compiled."""
    try:
        policies.applied([dag])
    except Exception as error:
        trace = "".join(traceback.format_exception(error))[-8000:]
        raise LoadFailed(f"a policy of {SETTINGS_FILE} refuses the DAG: {error}"[:2000], trace) from None


def _module_texts(folder: str) -> list[str]:
    """Of the project's modules that the file has imported."""
    texts = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if (
            path.startswith(folder + os.sep)
            and path.endswith(".py")
            and "site-packages" not in path
            and path not in linecache.cache
        ):
            with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
    return texts


def _the_dag(module: ModuleType, dag_id: str) -> DAG:
    from ..record.dag import DAG

    found = {dag.dag_id: dag for dag in vars(module).values() if isinstance(dag, DAG)}
    found.update({dag.dag_id: dag for dag in recording.collected_dags})
    if dag_id not in found:
        known = ", ".join(repr(name) for name in sorted(found)) or "none"
        raise LoadFailed(f"the file defines no DAG {dag_id!r}; it defines {known}")
    return found[dag_id]
