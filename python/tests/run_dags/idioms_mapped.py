"""Values of other tasks in every place where a mapped task can have them; also compared: what tasks return."""
from datetime import timedelta

from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, get_current_context, setup, task, task_group, teardown
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator

VALUES = ["values"]


@task
def big():
    return {"a": 1, "b": "two"}


@task(multiple_outputs=True)
def split():
    return {"a": 1, "b": "two"}


@task
def one():
    return 1


@task
def numbers():
    return [1, 2]


@task
def argument_sets():
    return [{"n": 1}, {"n": 2}]


@task
def collect(values):
    return list(values)


def show(*args, **kwargs):
    return [list(args), {k: kwargs[k] for k in sorted(kwargs) if k in ("s", "n", "m", "deep")}]


class Echo(BaseOperator):
    template_fields = ("text", "more")

    def __init__(self, *, text=None, more=None, plain=None, **kwargs):
        super().__init__(**kwargs)
        self.text = text
        self.more = more
        self.plain = plain

    def execute(self, context):
        return [self.text, self.more, type(self.plain).__name__]


class Wait(BaseSensorOperator):
    template_fields = ("what", "extra")

    def __init__(self, *, what, extra=None, **kwargs):
        super().__init__(**kwargs)
        self.what, self.extra = what, extra

    def poke(self, context):
        from airflow.sdk.bases.sensor import PokeReturnValue

        return PokeReturnValue(is_done=True, xcom_value=[self.what, self.extra])


with DAG("idiom_partial_xcom", tags=VALUES, schedule=None):

    @task
    def slow(n, s):
        return [n, s]

    collect(slow.partial(s=big()).expand(n=[1, 2]))
    slow.override(task_id="over_list").partial(s=big()).expand(n=numbers())
    slow.override(task_id="item").partial(s=split()["b"]).expand(n=[1])
    slow.override(task_id="kwargs").partial(s=one()).expand_kwargs(argument_sets())
    slow.override(task_id="kwargs_literal").partial(s=one()).expand_kwargs([{"n": 1}, {"n": [one()]}])
    slow.override(task_id="both").expand(n=numbers(), s=numbers())

with DAG("idiom_partial_deep", tags=VALUES, schedule=None):

    @task
    def deep(n, s, t="{{ ds }}"):
        return [n, s, t]

    value = big()
    deep.partial(s={"list": [value, {"x": one()}], "text": "{{ run_id[:6] }}"}, t=[numbers()]).expand(n=[1, 2])
    deep.override(task_id="literals").partial(s=one()).expand(n=["{{ ds }}", [1], {"a": "{{ ds }}"}])
    deep.override(task_id="in_expand").partial(s=1).expand(n=[[one()], {"k": "{{ ds }}"}])
    deep.override(task_id="in_kwargs").partial(t="{{ ti.map_index }}").expand_kwargs([{"n": 1, "s": [value]}, {"n": "{{ ds }}", "s": {"v": value}}])

with DAG("idiom_mapped_bash", tags=VALUES, schedule=None):

    @task
    def env():
        return {"A": "from_env"}

    @task
    def commands():
        return ["echo one $A", "echo two $A"]

    BashOperator.partial(task_id="with_env", env=env(), append_env=True).expand(bash_command=["echo x $A", "echo {{ ds }} $A"])
    BashOperator.partial(task_id="env_and_command", env=env(), append_env=True).expand(bash_command=commands())
    BashOperator.partial(task_id="fixed", bash_command="echo $A {{ ti.map_index }}").expand(env=[{"A": "1"}, {"A": "{{ ds }}"}])
    BashOperator.partial(task_id="kwargs", append_env=True, env=env()).expand_kwargs(
        [{"bash_command": "echo $A"}, {"bash_command": "echo 2"}]
    )

with DAG("idiom_mapped_classic", tags=VALUES, schedule=None):
    upstream = big()
    PythonOperator.partial(task_id="kw", python_callable=show, op_kwargs={"s": upstream, "deep": [upstream]}).expand(op_args=[[1], [2, 3]])
    PythonOperator.partial(task_id="args", python_callable=show, op_args=[upstream, one()]).expand(op_kwargs=[{"n": 1}, {"n": "{{ ds }}"}])
    PythonOperator.partial(task_id="from_list", python_callable=show).expand(op_kwargs=argument_sets())
    PythonOperator.partial(task_id="mapped_map", python_callable=show).expand(op_args=numbers().map(lambda n: [n, n * 2]))
    Echo.partial(task_id="echo", text=upstream, plain=[1]).expand(more=numbers())
    Echo.partial(task_id="echo_2", text=[upstream, "{{ ds }}"]).expand(more=["{{ ds }}", [one()]])
    Echo.partial(task_id="echo_kwargs", more=upstream).expand_kwargs(argument_sets.override(task_id="texts")().map(lambda d: {"text": d["n"]}))

with DAG("idiom_mapped_sensor", tags=VALUES, schedule=None):
    Wait.partial(task_id="wait", extra=big(), poke_interval=1).expand(what=numbers())
    Wait.partial(task_id="wait_reschedule", extra=big(), mode="reschedule", poke_interval=1).expand(what=["{{ ds }}", 2])

    @task.sensor(poke_interval=1)
    def poked(what, extra):
        from airflow.sdk.bases.sensor import PokeReturnValue

        return PokeReturnValue(is_done=True, xcom_value=[what, extra])

    poked.partial(extra=big()).expand(what=numbers())

with DAG("idiom_mapped_setup", tags=VALUES, schedule=None):

    @setup
    def make(n, s):
        return [n, s]

    @teardown
    def remove(n, s):
        return [n, s]

    @task
    def work(s):
        return s

    value = big()
    made = make.partial(s=value).expand(n=[1, 2])
    removed = remove.partial(s=value).expand(n=[1, 2])
    made >> work(one()) >> removed
    made >> removed

with DAG("idiom_mapped_group", tags=VALUES, schedule=None):

    @task
    def pair(x, y):
        return [x, y]

    @task_group
    def steps(item, fixed):
        first = pair(item, fixed)
        pair.override(task_id="second")([first], {"of": [big(), item]})
        return pair.override(task_id="last")(first, {"nested": [item, fixed]})

    collect(steps.partial(fixed=one()).expand(item=numbers()))
    collect.override(task_id="collect_kwargs")(steps.override(group_id="by_kwargs").partial(fixed=one()).expand_kwargs([{"item": 1}, {"item": 2}]))

with DAG("idiom_mapped_variable", tags=VALUES, schedule=None):
    settings = {"s": big(), "deep": [numbers()]}

    @task
    def run(n, settings):
        return [n, settings]

    run.partial(settings=settings).expand(n=[1, 2])
    run.override(task_id="again", retries=1, retry_delay=timedelta(0)).partial(settings=settings).expand(n=numbers())
    run.override(task_id="zipped").partial(settings=one()).expand(n=numbers().zip(numbers()))

with DAG("idiom_mapped_over_mapped_partial", tags=VALUES, schedule=None):

    @task
    def double(n):
        return n * 2

    @task
    def use(n, s):
        return [n, list(s)]

    doubled = double.expand(n=[1, 2, 3])
    use.partial(s=doubled).expand(n=doubled)

with DAG("idiom_mapped_bash_decorated", tags=VALUES, schedule=None):

    @task.bash
    def say(n, s):
        return f"echo {n} {s['a']}"

    say.partial(s=big()).expand(n=numbers())

with DAG("idiom_mapped_context", tags=VALUES, schedule=None):

    @task(map_index_template="{{ label }}")
    def labelled(n, s, ti=None, **context):
        get_current_context()["label"] = f"item {n}"
        return [n, s, ti.map_index]

    labelled.partial(s=big()).expand(n=numbers())

    @task(map_index_template="{{ label }}")
    def through_kwargs(n, **context):
        context["label"] = f"item {n}"
        return n

    through_kwargs.expand(n=numbers())

    def classic(n, **context):
        context["label"] = f"item {n}"
        return n

    PythonOperator.partial(task_id="classic", python_callable=classic, map_index_template="{{ label }}").expand(op_kwargs=[{"n": 1}, {"n": 2}])

    @task(map_index_template="{{ n }} {{ task.op_kwargs['n'] }} {{ ti.map_index }}")
    def by_field(n):
        return n

    by_field.expand(n=numbers())

    @task(map_index_template="{{ task.op_kwargs['n'] }}")
    def by_argument(n):
        return n

    by_argument.expand(n=numbers())
