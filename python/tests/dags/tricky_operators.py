"""Operators of the author with references inside arguments, default_args for their own arguments, dates of tasks, params."""

from datetime import datetime, timedelta

from airflow.sdk import DAG, Asset, BaseOperator, Param, TaskGroup, XComArg, task

from airflow.providers.standard.operators.empty import EmptyOperator as E
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor


class Op(BaseOperator):
    template_fields = ("conf",)
    template_fields_renderers = {"conf": "json"}
    operator_extra_links = ()

    def __init__(self, conf: dict, conn_id: str = "x", *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.conf = conf
        self.conn_id = conn_id

    def execute(self, context):
        pass


class Child(Op):
    ui_color = "#fff000"

    @property
    def operator_name(self):
        return "Special"


with DAG(
    "tricky_operators",
    schedule=timedelta(days=1),
    start_date=datetime(2024, 1, 1),
    default_args={"conn_id": "from_default", "retries": 1},
) as d:
    o = Op(task_id="o", conf={"a": [XComArg(E(task_id="e0")), {"b": E(task_id="e1").output}]})
    c = Child(task_id="c", conf={})
    m = Op.partial(task_id="m").expand(conf=[{"x": 1}])
    m2 = Op.partial(
        task_id="m2", inlets=[Asset("i")], outlets=[Asset("q")], on_failure_callback=lambda c: None
    ).expand_kwargs([{"conf": {}}])

    @task(inlets=[Asset("z")], outlets=Asset("single"))
    def t():
        pass

    t()
    s = TimeDeltaSensor(task_id="s", delta=timedelta(hours=1), poke_interval=timedelta(seconds=5), timeout=60.0)
    o >> c
    m << c
    PythonOperator(
        task_id="pp", python_callable=print, op_kwargs={"x": m.output, "y": m2.output}, templates_dict={"k": o.output}
    )
    with TaskGroup("tg", default_args={"conn_id": "tgc"}) as tg:
        Op(task_id="in", conf={})
    tg.set_upstream([o, c])
    tg.set_downstream(E(task_id="last"))
    E(task_id="dep", depends_on_past=True, wait_for_downstream=True, ignore_first_depends_on_past=True)
with DAG(
    "tricky_dates",
    schedule="0 0 * * *",
    start_date=datetime(2024, 1, 1),
    end_date=datetime(2024, 6, 1),
    default_args={"end_date": datetime(2024, 5, 1), "start_date": datetime(2024, 2, 1)},
):
    E(task_id="a")
    E(task_id="b", end_date=datetime(2025, 1, 1))
    E(task_id="c", start_date=datetime(2024, 3, 1), end_date=datetime(2024, 4, 1))
with DAG(
    "tricky_params", schedule=None, params={"x": Param(1, type="integer")}, default_args={"params": {"x": 5, "y": 2}}
):
    E(task_id="a", params={"x": 9})
