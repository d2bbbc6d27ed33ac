"""Callbacks on DAG and tasks: functions, lambdas, partials, notifiers, lists."""
from datetime import datetime
from functools import partial

from airflow.sdk import DAG, BaseNotifier
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.smtp.notifications.smtp import SmtpNotifier


class Pager(BaseNotifier):
    template_fields = ("message",)

    def __init__(self, message):
        super().__init__()
        self.message = message

    def notify(self, context):
        print(self.message)


def tell(context):
    pass


def tell_who(who, context):
    pass


with DAG(
    "callbacks",
    schedule=None,
    start_date=datetime(2024, 1, 1),
    on_success_callback=tell,
    on_failure_callback=[tell, Pager(message="dag {{ dag.dag_id }} failed")],
    default_args={"on_failure_callback": tell},
):
    EmptyOperator(task_id="inherits")
    EmptyOperator(task_id="own", on_failure_callback=Pager("x"), on_success_callback=lambda context: None)
    EmptyOperator(task_id="several", on_retry_callback=[partial(tell_who, "me"), tell], on_failure_callback=None)
    EmptyOperator(
        task_id="mail",
        on_failure_callback=SmtpNotifier(from_email="a@example.com", to="b@example.com", subject="{{ ti.task_id }}"),
    )
