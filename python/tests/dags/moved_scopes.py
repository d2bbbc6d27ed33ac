"""Setup and teardown around groups that have their own, and notifiers that take values of other tasks."""

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, BaseNotifier, BaseOperator, TaskGroup, setup, task


@setup
def s(): ...


@setup
def gs(): ...


@task
def t(): ...


@task
def gt(): ...


@task
def w(x=None): ...


class Notifier(BaseNotifier):
    template_fields = ("text",)

    def __init__(self, text=None):
        super().__init__()
        self.text = text

    def notify(self, context): ...


class Copy(BaseOperator):
    template_fields = ("source",)

    def __init__(self, source=None, target=None, **kwargs):
        super().__init__(**kwargs)
        self.source = source
        self.target = target

    def execute(self, context): ...


with DAG("moved_group_with_own_setup"), s() >> t().as_teardown():
    with TaskGroup("g"):
        gs() >> w() >> gt().as_teardown()

with DAG("moved_group_with_own_scope"), s() >> t().as_teardown():
    with TaskGroup("g"), gs() >> gt().as_teardown():
        w()

with DAG("moved_added_task"):
    with s() >> t().as_teardown() as scope:
        scope.add_task(w())

with DAG("moved_notifiers"):
    value = w()
    BashOperator(task_id="plain", bash_command="x", on_failure_callback=Notifier(text=value))
    BashOperator.partial(task_id="mapped", on_failure_callback=[Notifier(text=value)]).expand(bash_command=["x"])
    w.override(task_id="argument")(Notifier(text=value))
    w.override(task_id="callback", on_success_callback=Notifier(text=value)).expand(x=[1])
    Copy.partial(task_id="field", source=value).expand(target=[1])
    Copy.partial(task_id="no_field", target=value).expand(source=[1])
