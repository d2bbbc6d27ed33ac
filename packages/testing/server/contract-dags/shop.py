"""DAGs with one of everything that the web UI draws: groups, mapped tasks and groups, setup and teardown, retries, failures, assets."""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.sensors.external_task import ExternalTaskSensor
from airflow.sdk import DAG, Asset, AssetAlias, Label, Param, TaskGroup, get_current_context, setup, task, task_group, teardown

ORDERS = Asset(name="orders", uri="x://shop/orders")
REPORT = Asset(name="report", uri="x://shop/report")

with DAG(
    "shop",
    dag_display_name="The shop",
    description="One of everything",
    doc_md="# Shop",
    schedule="0 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    tags=["contract", "shop"],
    params={"amount": Param(3, type="integer", minimum=1, description="How many"), "note": "hello"},
    default_args={"owner": "sales", "retries": 0},
    owner_links={"sales": "https://example.com/sales"},
):

    @setup
    def open_shop():
        return "open"

    @teardown
    def close_shop():
        return "closed"

    @task(doc_md="What was ordered")
    def extract() -> list[int]:
        return [1, 2, 3]

    @task(map_index_template="{{ number }}")
    def double(value: int) -> int:
        get_current_context()["number"] = f"number {value}"
        if value == 3:
            raise ValueError("three is too much")
        return value * 2

    @task(retries=1, retry_delay=timedelta(milliseconds=1), outlets=[ORDERS], inlets=[REPORT])
    def flaky() -> None:
        context = get_current_context()
        if context["ti"].try_number == 1:
            raise RuntimeError("the first time always fails")

    with TaskGroup("load", tooltip="Into the warehouse") as load:
        first = BashOperator(task_id="first", bash_command="echo {{ params.amount }} {{ ds }}")
        second = EmptyOperator(task_id="second", task_display_name="The second")
        with TaskGroup("inner"):
            third = EmptyOperator(task_id="third")
        first >> [second, third]

    @task_group
    def each(value: int):
        @task
        def square(number: int) -> int:
            return number * number

        square(value)

    @task
    def never() -> None:
        pass

    opened, closed, numbers = open_shop(), close_shop(), extract()
    doubled = double.expand(value=numbers)
    unreached = never()
    opened >> numbers >> closed
    opened >> closed
    numbers >> load >> flaky()
    each.expand(value=[1, 2])
    doubled >> Label("all of them") >> unreached

with DAG("shop_report", schedule=[ORDERS], start_date=datetime(2026, 1, 1), tags=["contract"]):

    @task(outlets=[REPORT, AssetAlias("copies")])
    def write() -> dict[str, int]:
        return {"rows": 3}

    write()

with DAG("shop_starter", schedule=ORDERS & REPORT, start_date=datetime(2026, 1, 1)):
    TriggerDagRunOperator(task_id="start", trigger_dag_id="shop_report")

with DAG("shop_waiting", schedule=ORDERS & Asset(name="missing", uri="x://shop/missing"), start_date=datetime(2026, 1, 1)):
    with TaskGroup("begin"):
        begun = EmptyOperator(task_id="first")
    [begun, EmptyOperator(task_id="second")] >> EmptyOperator(task_id="end", outlets=[REPORT])

with DAG("shop_daily", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):
    ExternalTaskSensor(task_id="wait", external_dag_id="shop", external_task_id="extract")

with DAG("shop_asks", schedule=None, start_date=datetime(2026, 1, 1)):
    HITLOperator(
        task_id="ask",
        subject="Sell **{{ dag.dag_id }}**?",
        body="It is a good shop.",
        options=["yes", "no"],
        defaults=["no"],
        params={"price": Param(10, type="integer", minimum=1, description="in coins")},
    )
