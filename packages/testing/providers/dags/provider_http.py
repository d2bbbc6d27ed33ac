from airflow.providers.http.hooks.http import HttpHook
from airflow.providers.http.operators.http import HttpOperator
from airflow.providers.http.sensors.http import HttpSensor
from airflow.sdk import DAG, Connection, task

with DAG("provider_http", schedule=None, default_args={"http_conn_id": "probe_http"}):
    ask = HttpOperator(
        task_id="ask",
        method="POST",
        endpoint="answers/{{ ds_nodash | default('none') }}",
        data='{"question": "{{ run_id }}"}',
        headers={"Content-Type": "application/json"},
        response_check=lambda response, ti: response.json()["answer"] == 42 and ti.task_id == "ask",
        response_filter=lambda response: response.json()["headers"]["user-agent"],
    )
    wait = HttpSensor(
        task_id="wait",
        endpoint="ready",
        response_check=lambda response: response.json()["answer"] == 42,
        poke_interval=1,
        timeout=30,
    )
    missing = HttpOperator(task_id="missing", method="GET", endpoint="missing")

    @task
    def by_type():
        hook = Connection.get("probe_http").get_hook()
        if not isinstance(hook, HttpHook):
            raise TypeError(type(hook))
        return hook.run("by-type").status_code

    wait >> ask
    by_type()
