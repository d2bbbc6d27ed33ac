"""The context of a trace reaches the task, and lines of its log name the trace."""

from __future__ import annotations

import unittest

from .run_agent import Agent

TEXT = """
    import os
    from airflow.sdk import DAG, task

    with DAG("d", schedule=None):
        @task
        def says():
            print("context", os.environ.get("TRACEPARENT"))

        says()
"""
TRACE = "0af7651916cd43dd8448eb211c80319c"
CONTEXT = f"00-{TRACE}-b7ad6b7169203331-01"


class Traces(unittest.TestCase):
    def test_a_task_of_a_traced_run_has_its_context_and_every_line_the_id_of_the_trace(self):
        with Agent.ready(TEXT) as agent:
            traced = agent.run("says", env={"TRACEPARENT": CONTEXT})
            self.assertIn(f"context {CONTEXT}", traced.text())
            self.assertEqual({record.get("trace_id") for record in traced.records}, {TRACE})
            other = agent.run("says")
            self.assertIn("context None", other.text())
            self.assertEqual({record.get("trace_id") for record in other.records}, {None})
