"""`start_from_trigger`: what is plain when a file is compiled is in its spec; the rest is left to the first attempt."""

from __future__ import annotations

import datetime
import json
import unittest

from svc_runtime.run.deferral import next_call
from svc_runtime.run.xcom_values import decode

from .support import spec_of, tasks_of

TEXT = """
import datetime
from airflow.sdk import BaseOperator, DAG
from airflow.providers.standard.sensors.date_time import DateTimeSensorAsync
from airflow.triggers.base import StartTriggerArgs

TEMPORAL = "airflow.providers.standard.triggers.temporal."

class Starts(BaseOperator):
    def __init__(self, *, kwargs, path="m.Waits", starts=True, timeout=None, **rest):
        super().__init__(**rest)
        self.start_from_trigger = starts
        self.start_trigger_args = StartTriggerArgs(
            trigger_cls=path, trigger_kwargs=kwargs, next_method="go_on", next_kwargs={"n": 1}, timeout=timeout)

class Always(BaseOperator):
    start_from_trigger = True
    start_trigger_args = StartTriggerArgs(trigger_cls="m.Waits", next_method="go_on")

    def __init__(self, value=None, **rest):
        super().__init__(**rest)

with DAG("d", schedule=None):
    plain = Starts(task_id="plain", kwargs={"when": datetime.datetime(2026, 1, 1), "names": ("a",)},
        timeout=datetime.timedelta(minutes=1))
    Starts(task_id="not_now", kwargs={}, starts=False)
    Starts(task_id="template", kwargs={"deep": [{"x": "{{ ds }}"}]})
    Starts(task_id="other_task", kwargs={"x": plain.output})
    Starts(task_id="object", kwargs={"x": object()})
    Starts(task_id="moment", path=TEMPORAL + "DateTimeTrigger",
        kwargs={"moment": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))})
    Starts(task_id="delta", path=TEMPORAL + "TimeDeltaTrigger",
        kwargs={"delta": datetime.timedelta(hours=1), "end_from_trigger": True})
    Starts(task_id="connects", kwargs={"shop_conn_id": "shop"})
    Always(task_id="always")
    Always.partial(task_id="mapped").expand(value=[1, 2])
    DateTimeSensorAsync(task_id="sensor", target_time="2026-01-01T00:00:00+00:00", start_from_trigger=True,
        end_from_trigger=True)
    DateTimeSensorAsync(task_id="later", target_time="{{ data_interval_end }}", start_from_trigger=True)
"""


class StartTriggers(unittest.TestCase):
    def test_what_is_plain_is_compiled_and_the_rest_is_not(self) -> None:
        tasks = tasks_of(TEXT)
        found = {name: task["start_trigger"] for name, task in tasks.items() if "start_trigger" in task}
        self.assertEqual(set(found), {"plain", "moment", "delta", "connects", "always", "sensor"})
        plain = found["plain"]
        self.assertEqual(decode(json.loads(plain["kwargs"])), {"when": datetime.datetime(2026, 1, 1), "names": ("a",)})
        self.assertEqual([plain["class_path"], plain["next_method"], plain["timeout"]], ["m.Waits", "go_on", 60])
        self.assertEqual(json.loads(plain["next_kwargs"]), {"n": 1})
        self.assertNotIn("fires", plain)
        self.assertEqual(found["always"]["kwargs"], "{}")

    def test_connections_of_the_trigger_are_declared(self) -> None:
        self.assertIn("shop", spec_of(TEXT)["secrets"]["connections"])

    def test_times_are_for_the_engine(self) -> None:
        tasks = tasks_of(TEXT)
        fires = {name: tasks[name]["start_trigger"]["fires"] for name in ("moment", "delta", "sensor")}
        self.assertEqual(fires["moment"], {"at": "2025-12-31T23:00:00+00:00", "ends": False})
        self.assertEqual(fires["delta"], {"after": 3600, "ends": True})
        self.assertEqual(fires["sensor"], {"at": "2026-01-01T00:00:00+00:00", "ends": True})

    def test_a_moment_that_the_engine_has_worked_out_is_the_event(self) -> None:
        event = json.dumps({"moment": "2026-01-01T00:00:00.000000Z"})
        method, kwargs = next_call({"event": event, "next_method": "go_on", "next_kwargs": '{"n": 1}'})
        moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
        self.assertEqual((method, kwargs), ("go_on", {"n": 1, "event": moment}))
