"""`dag.test()`: one run of a DAG with the arguments of Airflow."""

from __future__ import annotations

import datetime
import re

from ..enums import DagRunType
from ..exceptions import AirflowException
from ..record.notset import NOTSET
from ..record.timezones import to_utc
from ..run.moments import iso
from .local_channel import LocalSecrets
from .local_run import LocalRun
from .output import printed_logs
from .results import TestedDagRun
from .secret_files import read_connections, read_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..record.dag import DAG


def test_dag(
    dag: DAG,
    *,
    run_after,
    logical_date,
    run_conf: dict | None,
    conn_file_path: str | None,
    variable_file_path: str | None,
    use_executor: bool,
    mark_success_pattern,
) -> TestedDagRun:
    if use_executor:
        raise AirflowException(
            "dag.test(use_executor=True) is not supported: tasks run in this process, so that breakpoints work. Leave the "
            "argument out, or trigger the DAG in `svc lite` to run it with an executor"
        )
    pattern = None if mark_success_pattern is None else re.compile(mark_success_pattern)
    secrets = LocalSecrets(read_variables(variable_file_path), read_connections(conn_file_path))
    run = LocalRun(dag, _given(dag, run_after=run_after, logical_date=logical_date, conf=run_conf), secrets, pattern)
    with printed_logs():
        return run.to_end()


test_dag.__test__ = False  # type: ignore[attr-defined]  # for pytest


def _given(dag: DAG, *, run_after, logical_date, conf: dict | None) -> dict:
    now = datetime.datetime.now(datetime.timezone.utc)
    after = now if run_after is None else to_utc(run_after)
    date = now if logical_date is NOTSET else None if logical_date is None else to_utc(logical_date)
    return {
        "run_id": f"{DagRunType.MANUAL.value}__{after.isoformat()}",
        "run_type": DagRunType.MANUAL.value,
        "logical_date": iso(date),
        "run_after": iso(after),
        "conf": conf or {},
    }
