"""Replays of tries whose time was over. A replay that waited would take a day, and so would this test."""

from __future__ import annotations

import datetime
import time
import unittest

import airflow  # noqa: F401  installs the import paths
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import DAG, task
from svc_runtime.testing.clock import SkippingClock
from svc_runtime.testing.recorded_try import RecordedTry
from svc_runtime.testing.run import run_once

DAY = datetime.timedelta(days=1)
RUN = {"run_id": "r1", "run_type": "manual", "logical_date": None, "run_after": "2026-03-02T06:00:00Z"}

pokes: list = []


def look() -> bool:
    pokes.append(time.time())
    return False


with DAG("waits", schedule=None) as waits:

    @task(execution_timeout=DAY)
    def crawl():
        begun = time.monotonic()
        while True:
            print(f"page after {time.monotonic() - begun:.0f} s")
            time.sleep(6 * 60 * 60)

    crawl()
    PythonSensor(task_id="look", python_callable=look, timeout=DAY.total_seconds(), poke_interval=60)
    PythonSensor(
        task_id="look_rarely", python_callable=look, timeout=DAY.total_seconds(), poke_interval=60, mode="reschedule"
    )


def replayed(task_id: str, cause: str):
    clock = SkippingClock()
    recorded = RecordedTry(run=RUN, try_number=2, max_tries=3, timed_out=cause)
    none: dict = {"conf": {}, "connections": {}, "variables": {}, "xcoms": {}, "at": None, "answers": {}}
    run = run_once(waits, clock=clock, only=(task_id, None), recorded=recorded, **none)
    return run.task(task_id)


class ReplayOfATimeout(unittest.TestCase):
    def test_the_sleep_of_a_task_moves_the_time_that_its_execution_timeout_has_left(self) -> None:
        real = time.sleep
        found = replayed("crawl", "execution_timeout")
        self.assertEqual(str(found.error), "the task ran longer than its execution_timeout of 86400 s")
        self.assertTrue(found.line.text.startswith("time.sleep("), found.line)
        self.assertIn("page after 64800 s", found.log)
        self.assertNotIn("page after 86400 s", found.log)
        self.assertIs(time.sleep, real)

    def test_a_sensor_that_timed_out_pokes_once_and_times_out(self) -> None:
        for task_id in ("look", "look_rarely"):
            pokes.clear()
            found = replayed(task_id, "sensor_timeout")
            self.assertIn("Sensor has timed out", str(found.error))
            self.assertEqual((found.state, len(pokes)), ("failed", 1))


if __name__ == "__main__":
    unittest.main()
