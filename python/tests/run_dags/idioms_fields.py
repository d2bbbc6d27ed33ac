"""Functions in place of templates, params of operators, and branches that choose tasks elsewhere in the DAG."""
import os
from collections import namedtuple

from airflow.sdk import DAG, BaseOperator, Param, TaskGroup, task
from airflow.providers.standard.operators.empty import EmptyOperator

VALUES = ["values"]


def made(context, jinja_env):
    return [context["ds"], "{{ ds }}"]


class Shows(BaseOperator):
    template_fields = ("field", "inside")

    def __init__(self, *, field=None, inside=None, **kwargs):
        super().__init__(**kwargs)
        self.field, self.inside = field, inside

    def execute(self, context):
        inside = ["function" if callable(item) else item for item in self.inside or []]
        return [self.field, inside, dict(self.params), self.params.get("x")]


with DAG("idiom_fields", tags=VALUES, schedule=None, params={"x": 1, "y": Param("a", type="string")}):
    Shows(task_id="function", field=made)
    Shows(task_id="from_lambda", field=lambda context, jinja_env: jinja_env.from_string("{{ ds_nodash }}").render(context))
    Shows(task_id="inside", inside=[made, "{{ ds }}"])
    Shows(task_id="without_arguments", field=lambda: 1)
    Shows(task_id="own_params", field="{{ params.x }}", params={"x": 2, "z": [1]})
    Shows(task_id="empty_text", field="")
    Shows.partial(task_id="mapped", field=lambda context, jinja_env: context["ti"].map_index).expand(inside=[["{{ ds }}"], [1]])

with DAG("idiom_fields_native", tags=VALUES, schedule=None, render_template_as_native_obj=True):
    Shows(task_id="empty_text", field="", inside=["", "{{ '' }}", "{{ 1 }}"])
    Shows(task_id="function", field=made)

with DAG("idiom_branch_elsewhere", tags=VALUES, schedule=None):

    @task.branch
    def to(x):
        return x

    def step(name, **kwargs):
        return EmptyOperator(task_id=name, **kwargs)

    other = step("other")
    with TaskGroup("g"):
        step("a")
    above = step("above")
    to.override(task_id="nothing_of_its_own")("other") >> [step("a1"), step("a2")]
    to.override(task_id="and_its_own")(["g", "b1"]) >> [step("b1"), step("b2")]
    upward = to.override(task_id="upward")("above")
    above >> upward >> step("c1")
    to.override(task_id="itself")("itself") >> step("d1")
    to.override(task_id="second_step")(["e1", "e2"]) >> step("e1") >> step("e2")
    to.override(task_id="only_second_step")("f2") >> step("f1") >> step("f2", trigger_rule="all_done")
    to.override(task_id="mapped").expand(x=["h1", "other"]) >> [step("h1"), step("h2")]

with DAG("idiom_empty_groups", schedule=None):

    @task
    def fails():
        raise ValueError("as planned")

    with TaskGroup("between") as between:
        pass
    fails() >> between >> EmptyOperator(task_id="after")

Row = namedtuple("Row", "a b")

with DAG("idiom_instance", tags=VALUES, schedule=None, user_defined_macros={"row": Row(1, [2])}):

    @task(owner="ada")
    def variables():
        names = ("DAG_ID", "TASK_ID", "DAG_OWNER", "LOGICAL_DATE", "TRY_NUMBER", "DAG_EMAIL")
        return [os.environ.get(f"AIRFLOW_CTX_{name}") for name in names]

    @task
    def states(ti=None):
        return ti.get_task_states(dag_id=ti.dag_id, run_ids=[ti.run_id])[ti.run_id]

    @task(map_index_template="item {{ ti.map_index }}")
    def named(n, ti=None):
        return ti.rendered_map_index

    underscore = Shows(task_id="underscore", field="{{ row._asdict() }} {{ row._fields }}")
    [variables(), named.expand(n=[1, 2]), underscore] >> states()
