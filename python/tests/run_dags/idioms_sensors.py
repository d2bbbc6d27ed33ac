"""Sensors in both modes, values of earlier runs, and operators with several base classes."""
import datetime

from airflow.exceptions import AirflowSkipException
from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, TaskGroup, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.external_task import ExternalTaskMarker, ExternalTaskSensor
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk.bases.sensor import PokeReturnValue

VALUES = ["values"]


class Nth(BaseSensorOperator):
    """True at the n-th poke."""

    template_fields = ("n",)

    def __init__(self, *, n, value=None, **kwargs):
        super().__init__(**kwargs)
        self.n, self.value = n, value
        self.seen = 0

    def poke(self, context):
        self.seen += 1
        return PokeReturnValue(self.seen >= int(self.n), xcom_value=[self.value, self.seen])


with DAG("idiom_sensor_modes", tags=VALUES, schedule=None):
    common = {"poke_interval": 0.2, "timeout": 30}
    Nth(task_id="poke", n=3, value="v", **common)
    Nth(task_id="once", n="{{ 1 }}", **common)
    PythonSensor(task_id="python", python_callable=lambda a: a, op_kwargs={"a": True, "zz": 1}, **common)
    PythonSensor(task_id="late", python_callable=lambda: False, poke_interval=0.2, timeout=0.5) >> EmptyOperator(task_id="after_late")
    PythonSensor(task_id="soft", python_callable=lambda: False, poke_interval=0.2, timeout=0.5, soft_fail=True) >> EmptyOperator(task_id="after_soft")

    def boom():
        raise ValueError("as planned")

    PythonSensor(task_id="broken", python_callable=boom, **common)
    PythonSensor(task_id="broken_soft", python_callable=boom, soft_fail=True, **common)
    PythonSensor(task_id="broken_silent", python_callable=boom, silent_fail=True, poke_interval=0.2, timeout=0.5)
    PythonSensor(task_id="never_fail", python_callable=boom, never_fail=True, **common)

    def skips():
        raise AirflowSkipException("as planned")

    PythonSensor(task_id="skips", python_callable=skips, **common)

    @task.sensor(poke_interval=0.2, timeout=30)
    def decorated():
        return PokeReturnValue(True, xcom_value={"a": 1})

    @task
    def show(value):
        return [value]

    show(decorated())

with DAG("idiom_sensor_reschedule", tags=VALUES, schedule=None):
    common = {"poke_interval": 1, "timeout": 60, "mode": "reschedule"}
    Nth(task_id="first", n=1, value="v", **common)
    PythonSensor(task_id="late", python_callable=lambda: False, poke_interval=1, timeout=1, mode="reschedule") >> EmptyOperator(task_id="after_late")
    PythonSensor(task_id="soft", python_callable=lambda: False, poke_interval=1, timeout=1, soft_fail=True, mode="reschedule") >> EmptyOperator(task_id="after_soft")

with DAG("idiom_prior_dates", tags=[*VALUES, "two_runs"], schedule=None):

    @task
    def first_day_only(ti=None, logical_date=None):
        if logical_date.day == 1:
            ti.xcom_push("note", "of day 1")
            return {"day": 1}
        return None

    @task
    def every_day(logical_date=None):
        return logical_date.day

    @task(trigger_rule="all_done")
    def look(ti=None):
        pull = ti.xcom_pull
        return {
            "prior": pull(task_ids="first_day_only", include_prior_dates=True),
            "here": pull(task_ids="first_day_only"),
            "note": pull(task_ids="first_day_only", key="note", include_prior_dates=True),
            "note_here": pull(task_ids="first_day_only", key="note"),
            "latest": pull(task_ids="every_day", include_prior_dates=True),
            "own": pull(task_ids="look", include_prior_dates=True),
            "several": pull(task_ids=["first_day_only", "every_day"], include_prior_dates=True),
            "nobody": pull(task_ids="nobody", include_prior_dates=True),
        }

    [first_day_only(), every_day()] >> look()

with DAG("idiom_past_after_skip", tags=["two_runs"], schedule=None):

    @task(depends_on_past=True)
    def fails_first(logical_date=None):
        if logical_date.day == 1:
            raise AirflowSkipException("as planned")

    fails_first() >> EmptyOperator(task_id="after", trigger_rule="all_done")


with DAG("idiom_prior_dates_mapped", tags=["values", "two_runs"], schedule=None):

    @task
    def every_day(logical_date=None):
        return logical_date.day

    @task
    def mapped(n, logical_date=None):
        return n * 10 + logical_date.day

    @task(trigger_rule="all_done")
    def look(ti=None):
        pull = ti.xcom_pull
        return {
            "none": pull(task_ids="every_day", include_prior_dates=True, map_indexes=None),
            "minus": pull(task_ids="every_day", include_prior_dates=True, map_indexes=-1),
            "list": pull(task_ids="every_day", include_prior_dates=True, map_indexes=[-1]),
            "mapped": pull(task_ids="mapped", include_prior_dates=True),
            "mapped_0": pull(task_ids="mapped", include_prior_dates=True, map_indexes=0),
            "mapped_01": pull(task_ids="mapped", include_prior_dates=True, map_indexes=[0, 1]),
            "both": pull(task_ids=["every_day", "mapped"], include_prior_dates=True),
            "own": pull(include_prior_dates=True),
            "missing": pull(task_ids=["every_day", "x"], include_prior_dates=True),
        }

    [every_day(), mapped.expand(n=[1, 2])] >> look()


class Named:
    """A mixin that takes an argument of its own, before the operator."""

    def __init__(self, *, name="nobody", **kwargs):
        super().__init__(**kwargs)
        self.name = name


class Greets(BaseOperator):
    template_fields = ("greeting",)

    def __init__(self, *, greeting, **kwargs):
        super().__init__(**kwargs)
        self.greeting = greeting

    def execute(self, context):
        return [self.greeting, getattr(self, "name", None), getattr(self, "extra", None), type(self).__mro__[1].__name__]


class NamedGreets(Named, Greets):
    template_fields = (*Greets.template_fields, "name")

    def __init__(self, **kwargs):
        super().__init__(**kwargs)


class Louder(NamedGreets):
    def __init__(self, *, extra="{{ ds }}", **kwargs):
        super().__init__(**kwargs)
        self.extra = extra

    def execute(self, context):
        return [*super().execute(context), "!"]


class PlainMixin:
    suffix = "?"

    def execute(self, context):
        return [super().execute(context), self.suffix]


class After(Greets, Named):
    pass


class MixedIn(PlainMixin, Louder):
    suffix = "mixed"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)


class SkipsInit(Greets):
    pass


class PythonWithName(Named, PythonOperator):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)


class SensorWithName(Named, BaseSensorOperator):
    template_fields = ("name",)

    def __init__(self, *, name, **kwargs):
        super().__init__(name=name, **kwargs)

    def poke(self, context):
        return PokeReturnValue(True, xcom_value=self.name)


class PrePost(Greets):
    def pre_execute(self, context):
        super().pre_execute(context)
        self.greeting = f"{self.greeting} pre"

    def post_execute(self, context, result=None):
        super().post_execute(context, result)
        context["ti"].xcom_push("return_value_2", result)


with DAG("idiom_multiple_inheritance", tags=VALUES, schedule=None, default_args={"name": "default", "greeting": "default", "retries": 0}):
    NamedGreets(task_id="named", greeting="{{ ds }}", name="{{ ds_nodash }}")
    NamedGreets(task_id="defaults")
    Louder(task_id="louder", greeting="hi", name="{{ ds }}")
    MixedIn(task_id="mixed", greeting="hi")
    Greets.partial(task_id="mapped").expand(greeting=["a", "{{ ds }}"])
    Louder.partial(task_id="mapped_extra").expand(extra=["{{ ds }}", 1])
    PythonWithName(task_id="python", python_callable=lambda ds: ds, name="x")
    PythonWithName.partial(task_id="python_mapped", python_callable=lambda a: a).expand(op_args=[["{{ ds }}"], [2]])
    SensorWithName(task_id="sensor", poke_interval=0.2)
    SensorWithName.partial(task_id="sensor_mapped", poke_interval=0.2).expand(name=["a", "{{ ds }}"])
    PrePost(task_id="hooks", greeting="hi")
    SkipsInit(task_id="skips_init")

with DAG("idiom_default_args_in_kwargs", tags=VALUES, schedule=None, default_args={"greeting": "default"}):
    Greets.partial(task_id="given_by_default").expand_kwargs([{"greeting": "item"}, {}])
    Greets.partial(task_id="retries", greeting="x").expand_kwargs([{"doc_md": "item"}])

with DAG("idiom_ext_source", schedule=None):
    EmptyOperator(task_id="good")

    def boom():
        raise ValueError("as planned")

    PythonOperator(task_id="bad", python_callable=boom)

    with TaskGroup("grp"):
        EmptyOperator(task_id="a") >> EmptyOperator(task_id="b")
    with TaskGroup("bad_grp"):
        EmptyOperator(task_id="a")
        PythonOperator(task_id="b", python_callable=boom)

with DAG("idiom_ext_waits", tags=VALUES, schedule=None):
    common = {"external_dag_id": "idiom_ext_source", "poke_interval": 1, "timeout": 60}
    ExternalTaskSensor(task_id="task", external_task_id="good", **common)
    ExternalTaskSensor(task_id="tasks", external_task_ids=["good", "grp.b"], **common)
    ExternalTaskSensor(task_id="group", external_task_group_id="grp", **common)
    ExternalTaskSensor(task_id="failed_group", external_task_group_id="bad_grp", failed_states=["failed"], **common)
    ExternalTaskSensor(task_id="whole_failed_allowed", allowed_states=["failed"], **common)
    ExternalTaskSensor(task_id="whole_failed", failed_states=["failed"], **common)
    ExternalTaskSensor(task_id="soft", failed_states=["failed"], soft_fail=True, **common)
    ExternalTaskSensor(task_id="skipped_states", skipped_states=["failed"], **common)
    ExternalTaskSensor(task_id="bad_task", external_task_id="bad", allowed_states=["failed"], **common)
    ExternalTaskSensor(task_id="bad_task_fails", external_task_id="bad", failed_states=["failed"], **common)
    ExternalTaskSensor(task_id="bad_or_good", external_task_ids=["good", "bad"], allowed_states=["success", "failed"], **common)
    ExternalTaskSensor(task_id="reschedule", external_task_id="good", mode="reschedule", **common)
    ExternalTaskSensor(task_id="late", external_task_id="good", execution_delta=datetime.timedelta(days=3), external_dag_id="idiom_ext_source", poke_interval=1, timeout=2)
    ExternalTaskSensor(task_id="late_soft", external_task_id="good", execution_delta=datetime.timedelta(days=3), external_dag_id="idiom_ext_source", poke_interval=1, timeout=2, soft_fail=True)
    ExternalTaskSensor(task_id="by_function", external_task_id="good", execution_date_fn=lambda dt: dt, **common)
    ExternalTaskSensor(task_id="by_function_context", external_task_id="good", execution_date_fn=lambda dt, ds: [dt], **common)
    ExternalTaskSensor(task_id="no_dag", external_dag_id="there_is_none", check_existence=True, poke_interval=1, timeout=2)
    ExternalTaskSensor(task_id="no_task", external_dag_id="idiom_ext_source", external_task_id="there_is_none", check_existence=True, poke_interval=1, timeout=2)
    ExternalTaskSensor(task_id="no_group", external_dag_id="idiom_ext_source", external_task_group_id="there_is_none", check_existence=True, poke_interval=1, timeout=2)
    ExternalTaskSensor(task_id="template", external_dag_id="{{ 'idiom_ext_source' }}", external_task_ids="{{ ['good'] }}", poke_interval=1, timeout=60)
    ExternalTaskSensor.partial(task_id="mapped", external_dag_id="idiom_ext_source", poke_interval=1, timeout=60).expand(external_task_id=["good", "grp.a"])
    ExternalTaskMarker(task_id="marker", external_dag_id="idiom_ext_source", external_task_id="good")
