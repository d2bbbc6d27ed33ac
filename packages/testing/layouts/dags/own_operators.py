"""Operators and sensors of the file's own, one of which is deferrable."""
from datetime import datetime, timedelta

from airflow.models import BaseOperator
from airflow.sdk import DAG
from airflow.sensors.base import BaseSensorOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent


class Soon(BaseTrigger):
    def serialize(self):
        return ("own_operators.Soon", {})

    async def run(self):
        yield TriggerEvent("x")


class Copy(BaseOperator):
    template_fields = ("source", "target")
    template_ext = (".sql",)
    ui_color = "#abcdef"

    def __init__(self, source, target="{{ ds }}", *, deferrable=False, **kwargs):
        super().__init__(**kwargs)
        self.source = source
        self.target = target
        self.deferrable = deferrable

    def execute(self, context):
        self.defer(trigger=Soon(), method_name="resume", timeout=timedelta(minutes=1))

    def resume(self, context, event=None):
        return event


class Twice(Copy):
    def __init__(self, **kwargs):
        kwargs.setdefault("retries", 4)
        super().__init__(source="a", **kwargs)


class Seen(BaseSensorOperator):
    def poke(self, context):
        return True


with DAG("own_operators", schedule="@once", start_date=datetime(2026, 1, 1)):
    Seen(task_id="seen", mode="reschedule") >> Copy(source="select 1", task_id="copy") >> Twice(task_id="twice", deferrable=True)
    Copy.partial(task_id="each", retries=2).expand(source=["a", "b"])
