"""Context names of Airflow 2: there for files that use them, and not in the way of those that do not."""

from __future__ import annotations

import unittest

from .run_agent import Agent

OLD = """
    from airflow import DAG
    from airflow.operators.python import PythonOperator
    from airflow.operators.bash import BashOperator

    def old(**kwargs):
        return [str(kwargs["execution_date"]), kwargs["tomorrow_ds"], kwargs["yesterday_ds_nodash"]]

    def named(execution_date, ds):
        return [str(execution_date), ds]

    with DAG("d", schedule_interval=None) as dag:
        PythonOperator(task_id="old", python_callable=old, provide_context=True)
        PythonOperator(task_id="named", python_callable=named)
        PythonOperator(task_id="templated", python_callable=lambda *args: list(args),
                       op_args=["{{ execution_date.year }} {{ yesterday_ds }} {{ tomorrow_ds_nodash }}"])
        PythonOperator(task_id="attributes", python_callable=lambda ti, dag_run: [
            ti.execution_date == dag_run.logical_date, dag_run.execution_date == dag_run.logical_date])
"""
NEW = """
    from airflow.sdk import DAG, task

    with DAG("d", schedule=None):
        @task
        def names(**context):
            return [name for name in context if name.startswith(("exec", "tomorrow", "yesterday"))]

        names()
"""


class OldContext(unittest.TestCase):
    def values(self, text: str, *tasks: str) -> list:
        agent = Agent.ready(text)
        self.addCleanup(agent.close)
        found = []
        for task_id in tasks:
            attempt = agent.run(task_id)
            self.assertEqual(attempt.result["state"], "success", attempt.text())
            found.append(attempt.value())
        return found

    def test_functions_templates_and_attributes_see_them(self) -> None:
        old, named, templated, attributes = self.values(OLD, "old", "named", "templated", "attributes")
        date, day = named
        self.assertEqual(old[0], date)
        self.assertLess(old[2], day.replace("-", ""))
        self.assertGreater(old[1], day)
        self.assertEqual(templated[0].split()[0], day[:4])
        self.assertEqual(attributes, [True, True])

    def test_files_that_do_not_mention_them_see_the_context_of_airflow_3(self) -> None:
        self.assertEqual(self.values(NEW, "names"), [[]])


if __name__ == "__main__":
    unittest.main()
