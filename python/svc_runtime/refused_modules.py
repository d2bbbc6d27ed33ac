"""Modules of Airflow 3.3 that are refused when they are imported, with the reason and what to do instead.

docs/coming-from-airflow.md has the same table: `npm run docs` reads this file. A line is `modules | reason | instead`.
"""

from __future__ import annotations

_TABLE = """
airflow.sdk.crypto | the key that encrypts secrets stays in the control plane | encrypt with a library, and keep its key in a connection
airflow.sdk.coordinators, airflow.sdk.execution_time.coordinator | tasks in Go, Java and other languages have no runtime here | start the program with @task.bash, or in a container
airflow.sdk.execution_time.comms, airflow.sdk.execution_time.supervisor, airflow.sdk.execution_time.request_handlers, airflow.sdk.execution_time.schema, airflow.sdk.execution_time.execute_workload | they speak with Airflow's own supervisor of tasks | use the context of the task (ti, dag_run)
airflow.sdk.execution_time.callback_runner, airflow.sdk.execution_time.callback_supervisor, airflow.sdk.execution_time.connection_test_supervisor | the agent starts callbacks and tests of connections | use callbacks of DAGs and tasks, and svc connections test
airflow.sdk.execution_time.cache | values of secrets are kept by the agent, for one task | use Variable.get and BaseHook.get_connection
airflow.sdk.execution_time.secrets | the control plane finds secrets | use Variable.get and BaseHook.get_connection; the operator sets secrets.backend
airflow.sdk.execution_time.sentry | errors of tasks are in their logs and in alerts | call the SDK of Sentry in a callback, or use docs/alerts.md
airflow.sdk.execution_time.task_mapping | map indexes are those of the engine | use ti.map_index, and ti.xcom_pull of the mapped task
airflow.sdk.api.client, airflow.sdk.api.datamodels | they are Airflow's own API for tasks | use the context of the task, or the REST API
airflow.sdk.observability.metrics | metrics of work come from the control plane | use a client library of your monitoring in the task, or docs/metrics.md
airflow.sdk.serde.serializers, airflow.sdk.serde.typing | the serializers of values are built in | use serialize and deserialize of airflow.sdk.serde
airflow.sdk.execution_time.email_backend | there is no setting for a backend of mails | use EmailOperator, or a notifier
airflow.sdk.definitions._internal.decorators, airflow.sdk.definitions._internal.setup_teardown, airflow.sdk.definitions.timetables._cron, airflow.sdk.definitions.timetables._delta, airflow.providers.standard.utils.sensor_helper | they are parts of Airflow's implementation | use the names of airflow.sdk
airflow.sdk.state, airflow.state | the control plane stores the state of tasks and assets | use task_state_store and asset_state_store of the context
airflow.sdk.execution_time.hitl, airflow.providers.standard.triggers.hitl | the control plane waits for the answers of people, without a trigger | use HITLOperator, or a subclass of it
airflow.triggers.shared_stream | a shared stream confirms no events to a broker | override shared_stream_key, open_shared_stream and filter_shared_stream of BaseEventTrigger
airflow.providers.standard.utils.openlineage | nothing is added to the conf of a triggered run | write what the other DAG needs into conf= of TriggerDagRunOperator
"""


def _parsed() -> dict[str, str]:
    found = {}
    for line in _TABLE.strip().splitlines():
        modules, reason, instead = (part.strip() for part in line.split("|"))
        found.update(dict.fromkeys(modules.split(", "), f"{reason}; {instead}"))
    return found


REFUSED: dict[str, str] = _parsed()
