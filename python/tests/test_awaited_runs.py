"""What triggers about other runs ask of the engine, and what they make of its answer."""

from __future__ import annotations

import datetime
import json
import unittest

from airflow.providers.standard.triggers.external_task import DagStateTrigger, WorkflowTrigger
from svc_runtime.exceptions import TaskDeferred
from svc_runtime.run.deferral import deferral_of, next_call

DATE = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def awaits(trigger):
    return deferral_of(TaskDeferred(trigger=trigger, method_name="go_on"))["awaits"]


class AwaitedRuns(unittest.TestCase):
    def test_ends_are_for_the_engine(self) -> None:
        asked = awaits(
            WorkflowTrigger("other", logical_dates=[DATE], external_task_ids=["a"], failed_states=["failed"])
        )
        self.assertEqual(
            [asked["dagId"], asked["logicalDates"], asked["runIds"]], ["other", ["2026-01-01T00:00:00Z"], None]
        )
        self.assertEqual([asked["taskIds"], asked["allowed"], asked["failed"]], [["a"], ["success"], ["failed"]])
        whole = awaits(DagStateTrigger("other", ["success", "failed"], run_ids=["r"]))
        self.assertEqual([whole["runIds"], whole["taskIds"], whole["allowed"]], [["r"], None, ["success", "failed"]])

    def test_states_on_the_way_and_runs_without_a_name_are_not(self) -> None:
        self.assertIsNone(awaits(WorkflowTrigger("other", logical_dates=[DATE], allowed_states=["running"])))
        self.assertIsNone(awaits(WorkflowTrigger("other", logical_dates=[DATE], allowed_states=["skipped"])))
        self.assertIsNone(awaits(DagStateTrigger("other", ["queued"], run_ids=["r"])))
        self.assertIsNone(awaits(WorkflowTrigger("other", run_ids=[])))
        self.assertIsNotNone(
            awaits(WorkflowTrigger("other", logical_dates=[DATE], external_task_ids=[], allowed_states=["skipped"]))
        )

    def test_the_states_of_the_runs_are_the_event(self) -> None:
        echo = awaits(DagStateTrigger("other", ["success"], run_ids=["r"]))["echo"]
        event = json.dumps({"runs": {"echo": echo, "states": {"r": "success"}}})
        method, kwargs = next_call({"event": event, "next_method": "go_on", "next_kwargs": "{}"})
        path, found = kwargs["event"]
        self.assertEqual(
            [method, path.rsplit(".", 1)[1], found["r"], found["run_ids"]],
            ["go_on", "DagStateTrigger", "success", ["r"]],
        )
