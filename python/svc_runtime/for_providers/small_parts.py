"""Small names of `airflow.utils.*`, `airflow.settings` and the models that providers import."""

from __future__ import annotations

import dataclasses
import enum
import os
import re
import sys

from ..run.helpers import DatabaseModel, no_database

IS_WINDOWS = sys.platform == "win32"
AIRFLOW_HOME = os.environ.get("AIRFLOW_HOME") or os.path.expanduser("~/airflow")
TIMEZONE = "UTC"


def __getattr__(name: str) -> str:
    """Folders of the DAG file that is loaded now: one compiler loads files of several repositories."""
    if name == "DAGS_FOLDER":
        given = os.environ.get("AIRFLOW__CORE__DAGS_FOLDER") or os.environ.get("SVC_DAGS_FOLDER")
        return given or os.path.join(AIRFLOW_HOME, "dags")
    if name == "PLUGINS_FOLDER":
        return os.environ.get("AIRFLOW__CORE__PLUGINS_FOLDER") or os.path.join(AIRFLOW_HOME, "plugins")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def getuser() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def is_tty() -> bool:
    return sys.stdout.isatty()


def get_hostname() -> str:
    import socket

    return socket.getfqdn()


def md5(string: bytes = b"", /):
    """Not for anything secret: a short name of contents."""
    import hashlib

    return hashlib.md5(string, usedforsecurity=False)


def convert_camel_to_snake(camel_str: str) -> str:
    return re.sub(r"(?!^)([A-Z]+)", r"_\1", camel_str).lower()


def partition(pred, iterable):
    items = list(iterable)
    return iter([item for item in items if not pred(item)]), iter([item for item in items if pred(item)])


def _base_url() -> str:
    from ..run.conf import conf

    return conf.get("api", "base_url").rstrip("/")


def build_airflow_dagrun_url(dag_id: str, run_id: str) -> str:
    from urllib.parse import quote

    return f"{_base_url()}/dags/{quote(dag_id)}/runs/{quote(run_id, safe='')}"


def build_airflow_url_with_query(query: dict) -> str:
    from urllib.parse import urlencode

    return f"{_base_url()}/dags/{query.get('dag_id', '')}?{urlencode(query)}"


ANSI_ESCAPE = re.compile(r"\x1B\[([0-9]{1,3}(;[0-9]{1,3})*)?[A-Za-z]")


def remove_escape_codes(text: str) -> str:
    return ANSI_ESCAPE.sub("", text)


def pod_mutation_hook(pod) -> None:
    """The author's, from `airflow_local_settings.py` where there is one."""
    try:
        from airflow_local_settings import pod_mutation_hook as authors  # type: ignore[import-not-found]
    except ImportError:
        return
    authors(pod)


def execute_in_subprocess(cmd: list, cwd: str | None = None, env: dict | None = None) -> None:
    """Runs it, with its output in the task's log; a failure raises."""
    import subprocess

    done = subprocess.run(cmd, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    import logging

    for line in done.stdout.decode("utf-8", errors="backslashreplace").splitlines():
        logging.getLogger("airflow.utils.process_utils").info("%s", line)
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, cmd)


class JobState(str, enum.Enum):
    RUNNING = "running"
    SUCCESS = "success"
    RESTARTING = "restarting"
    FAILED = "failed"

    def __str__(self) -> str:
        return self.value


@dataclasses.dataclass
class AssetDetails:
    """Of access checks, which the control plane does; providers name it in annotations."""

    id: str | None = None


@dataclasses.dataclass
class AssetAliasDetails:
    id: str | None = None


class AccessView(enum.Enum):
    CLUSTER_ACTIVITY = "CLUSTER_ACTIVITY"
    DOCS = "DOCS"
    IMPORT_ERRORS = "IMPORT_ERRORS"
    JOBS = "JOBS"
    PLUGINS = "PLUGINS"
    PROVIDERS = "PROVIDERS"
    TRIGGERS = "TRIGGERS"
    WEBSITE = "WEBSITE"


class TaskReschedule(DatabaseModel): ...


class RenderedTaskInstanceFields(DatabaseModel): ...


class SerializedDagModel(DatabaseModel): ...


class AssetEvent(DatabaseModel): ...


class AssetModel(DatabaseModel): ...


class AirflowContextDeprecationWarning(DeprecationWarning): ...


def expand_alias_to_assets(alias, session=None) -> list:
    """Which assets an alias stands for is known to the control plane."""
    return []


class SerializedBaseOperator:
    """Tasks here are always the authors' own objects; nothing is an instance of this."""


class SerializedMappedOperator(SerializedBaseOperator): ...


class SerializedDAG: ...


def context_get_outlet_events(context):
    return context["outlet_events"]


def context_to_airflow_vars(context, in_env_var_format: bool = False) -> dict[str, str]:
    from ..run.environment import context_variables

    found = context_variables(context)
    if in_env_var_format:
        return found
    return {f"airflow.ctx.{name.removeprefix('AIRFLOW_CTX_').lower()}": value for name, value in found.items()}


AIRFLOW_VAR_NAME_FORMAT_MAPPING = {
    f"AIRFLOW_CONTEXT_{name}": {"default": f"airflow.ctx.{name.lower()}", "env_var_format": f"AIRFLOW_CTX_{name}"}
    for name in "DAG_ID TASK_ID LOGICAL_DATE TRY_NUMBER DAG_RUN_ID DAG_OWNER DAG_EMAIL".split()
}


class SetDuringExecution:
    """A template field whose value the task sets itself."""

    def __repr__(self) -> str:
        return "DYNAMIC (set during execution)"


SET_DURING_EXECUTION = SetDuringExecution()


def get_docs_url(page: str | None = None) -> str:
    return f"https://airflow.apache.org/docs/apache-airflow/stable/{page or ''}"


clear_task_instances = no_database("clear_task_instances()")


def configure_orm(disable_connection_pool: bool = False, pool_class=None) -> None:
    """There is no database to prepare for."""
