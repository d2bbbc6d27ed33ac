"""Arguments that a callable does not name, and values of branches and short circuits."""
from airflow.sdk import DAG, task, task_group
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import (
    BranchPythonOperator,
    PythonOperator,
    ShortCircuitOperator,
)

VALUES = ["values"]


@task
def collect(values):
    return list(values)


@task
def whole(value):
    return [type(value).__name__ if not isinstance(value, (list, str, int, dict, type(None))) else value]


def both(a, zz=None):
    return [a, zz]


def positional(a, b):
    return [a, b]


with DAG("idiom_extra_kwargs", tags=VALUES, schedule=None):
    PythonOperator(task_id="dropped", python_callable=lambda a: a, op_kwargs={"a": 1, "zz": 2})
    PythonOperator(task_id="kept", python_callable=both, op_kwargs={"a": 1, "zz": 2, "yy": 3})
    PythonOperator(task_id="all", python_callable=lambda **kw: {k: kw[k] for k in ("a", "zz")}, op_kwargs={"a": 1, "zz": 2})
    PythonOperator(task_id="none", python_callable=lambda: "none", op_kwargs={"a": 1})
    PythonOperator(task_id="shadows", python_callable=lambda ds: ds, op_kwargs={"ds": "mine", "zz": 1})
    PythonOperator(task_id="twice", python_callable=positional, op_args=[1, 2], op_kwargs={"c": 3})
    PythonOperator(task_id="conflict", python_callable=positional, op_args=[1], op_kwargs={"a": 3, "b": 4})
    PythonOperator(task_id="missing", python_callable=positional, op_kwargs={"a": 3, "c": 4})
    PythonOperator(task_id="only_args", python_callable=lambda *args: list(args), op_args=[1], op_kwargs={"zz": 1})
    PythonOperator(task_id="keyword_only", python_callable=lambda a, *, b: [a, b], op_args=[1], op_kwargs={"b": 2, "zz": 1})
    PythonOperator(task_id="positional_only", python_callable=lambda a, /, b: [a, b], op_args=[1], op_kwargs={"b": 2, "zz": 1})
    PythonOperator(task_id="positional_only_named", python_callable=lambda a, /: a, op_kwargs={"a": 1})
    PythonOperator(task_id="positional_only_context", python_callable=lambda ds, /: ds, op_kwargs={})
    PythonOperator(task_id="template", python_callable=lambda templates_dict, a: [templates_dict, a], templates_dict={"t": "{{ ds }}"}, op_kwargs={"a": 1, "zz": 1})
    PythonOperator.partial(task_id="mapped", python_callable=lambda a: a).expand(op_kwargs=[{"a": 1, "zz": 2}, {"a": 2}])
    PythonOperator(task_id="class_method", python_callable="x".join, op_args=[["a", "b"]], op_kwargs={"zz": 1})
    PythonOperator(task_id="builtin", python_callable=len, op_args=[[1]], op_kwargs={"zz": 1})

with DAG("idiom_extra_kwargs_branch", tags=VALUES, schedule=None):
    way = BranchPythonOperator(task_id="way", python_callable=lambda a: a, op_kwargs={"a": "left", "zz": 2})
    way >> [EmptyOperator(task_id="left"), EmptyOperator(task_id="right")]
    short = ShortCircuitOperator(task_id="short", python_callable=lambda a: a, op_kwargs={"a": False, "zz": 2})
    short >> EmptyOperator(task_id="below")
    go = ShortCircuitOperator(task_id="go", python_callable=lambda a: a, op_kwargs={"a": "yes", "zz": 2})
    go >> EmptyOperator(task_id="below_go")

with DAG("idiom_branch_values", tags=VALUES, schedule=None):

    @task.branch
    def br(x):
        return x

    @task.short_circuit
    def sc(x):
        return x

    t1, t2 = EmptyOperator(task_id="t1"), EmptyOperator(task_id="t2")
    mapped = br.expand(x=["t1", "t2"])
    mapped >> [t1, t2]
    collect(mapped)
    single = br.override(task_id="single")("u1")
    single >> [EmptyOperator(task_id="u1"), EmptyOperator(task_id="u2")]
    whole(single)
    none = br.override(task_id="none")(None)
    none >> EmptyOperator(task_id="n1")
    whole.override(task_id="of_none", trigger_rule="all_done")(none)
    several = br.override(task_id="several").expand(x=[["s1", "s2"], "s1"])
    several >> [EmptyOperator(task_id="s1"), EmptyOperator(task_id="s2")]
    collect.override(task_id="collect_several")(several)

with DAG("idiom_short_values", tags=VALUES, schedule=None):

    @task.short_circuit
    def sc(x):
        return x

    collect(sc.expand(x=[1, 2]))
    collect.override(task_id="one_false", trigger_rule="all_done")(sc.override(task_id="some").expand(x=[0, 2]))
    collect.override(task_id="soft", trigger_rule="all_done")(sc.override(task_id="softly", ignore_downstream_trigger_rules=False).expand(x=[0, 2]))
    whole(sc.override(task_id="alone")("yes"))
    whole.override(task_id="of_false", trigger_rule="all_done")(sc.override(task_id="false")(0))
    gate = ShortCircuitOperator.partial(task_id="gate", python_callable=lambda x: x).expand(op_kwargs=[{"x": 5}, {"x": 0}])
    collect.override(task_id="of_gate", trigger_rule="all_done")(gate.output)

with DAG("idiom_branch_classic_mapped", tags=VALUES, schedule=None):
    way = BranchPythonOperator.partial(task_id="way", python_callable=lambda a: a).expand(op_kwargs=[{"a": "left", "zz": 1}, {"a": "left"}])
    way >> [EmptyOperator(task_id="left"), EmptyOperator(task_id="right")]
    collect(way.output)

with DAG("idiom_branch_not_pushed", tags=VALUES, schedule=None):

    @task.branch(do_xcom_push=False)
    def br(x):
        return x

    br.expand(x=["t1"]) >> [EmptyOperator(task_id="t1"), EmptyOperator(task_id="t2")]

with DAG("idiom_branch_in_group", tags=VALUES, schedule=None):
    @task_group
    def grp():
        @task.branch
        def br(x):
            return x

        br.expand(x=["grp.t1", "grp.t1"]) >> [EmptyOperator(task_id="t1"), EmptyOperator(task_id="t2")]

    grp()
