"""What cannot be recorded fails with file, line, what, and what to do instead."""

from __future__ import annotations

import unittest

from .support import compile_text

HEAD = "from datetime import datetime, timedelta\nfrom airflow.sdk import *\nfrom airflow.providers.standard.operators.empty import EmptyOperator\nfrom airflow.providers.standard.operators.bash import BashOperator\n"

# name → (body after HEAD, part of the message, line of the error in the body or None)
CASES = {
    "variable at top level": ('Variable.get("x")\n', "Variable.get('x') is read while the file is compiled", 1),
    "connection at top level": ('BaseHook.get_connection("x")\n', "connection 'x' is read while", 1),
    "hook used at top level": (
        "from airflow.providers.amazon.aws.hooks.s3 import S3Hook\nkeys = S3Hook('aws').list_keys('b')\n",
        "S3Hook.list_keys() runs provider code",
        2,
    ),
    "provider function called": (
        "from airflow.providers.google.cloud.utils.helpers import normalize\nnormalize('x')\n",
        "normalize() runs provider code",
        2,
    ),
    "custom timetable": (
        "from airflow.timetables.base import Timetable\nclass Mine(Timetable):\n    pass\nwith DAG('d', schedule=Mine()):\n    pass\n",
        "the timetable Mine has no next_dagrun_info()",
        None,
    ),
    "custom partition mapper": (
        (
            "class Mine(PartitionMapper):\n    pass\n"
            "with DAG('d', schedule=PartitionedAssetTimetable(Asset('a'), default_partition_mapper=Mine())):\n    pass\n"
        ),
        "the partition mapper dag.Mine has no to_downstream()",
        None,
    ),
    "partition format of the machine": (
        "with DAG('d', schedule=CronPartitionTimetable('@daily', timezone='UTC', key_format='%c')):\n    pass\n",
        "has the format code '%c', which depends on the machine",
        None,
    ),
    "custom weight rule": (
        (
            "from airflow.task.priority_strategy import PriorityWeightStrategy\n"
            "class W(PriorityWeightStrategy):\n    def get_weight(self, ti):\n        return ti.run_id\n"
            "with DAG('d'):\n    EmptyOperator(task_id='a', weight_rule=W())\n"
        ),
        "the weight rule dag.W of task 'a' raised AttributeError in get_weight()",
        None,
    ),
    "custom weight rule by its path": (
        "with DAG('d'):\n    EmptyOperator(task_id='a', weight_rule='plugins.weights.Mine')\n",
        "uses the weight rule class plugins.weights.Mine, which cannot be imported",
        2,
    ),
    "retry policy that is a class": (
        "with DAG('d'):\n    EmptyOperator(task_id='a', retry_policy=ExceptionRetryPolicy)\n",
        "retry_policy of task 'a' must be a RetryPolicy, not the class ExceptionRetryPolicy: make an object of it",
        2,
    ),
    "retry rule for no exception": (
        "RetryRule('ValueError')\n",
        "must be a dotted import path (e.g. 'builtins.ValueError'), got 'ValueError'",
        1,
    ),
    "rule after a setup": (
        (
            "with DAG('d'):\n    a, c = (EmptyOperator(task_id=n) for n in 'ac')\n"
            "    a >> EmptyOperator(task_id='b', trigger_rule='all_done') >> c.as_teardown(setups=a)\n"
        ),
        "task 'b' has the trigger rule 'all_done', but a task directly after a setup ('a') must have all_success",
        None,
    ),
    "cycle": (
        "with DAG('d'):\n    a, b, c = (EmptyOperator(task_id=n) for n in 'abc')\n    a >> b >> c >> a\n",
        "a >> b >> c >> a",
        None,
    ),
    "self loop": ("with DAG('d'):\n    a = EmptyOperator(task_id='a')\n    a >> a\n", "a >> a", None),
    "duplicate task id": (
        "with DAG('d'):\n    EmptyOperator(task_id='a')\n    EmptyOperator(task_id='a')\n",
        "Task id 'a' has already been added to the DAG",
        3,
    ),
    "duplicate group id": ("with DAG('d'):\n    TaskGroup('g')\n    TaskGroup('g')\n", "group_id 'g' has already", 3),
    "task named like a group": (
        "with DAG('d'):\n    with TaskGroup('g'):\n        pass\n    EmptyOperator(task_id='g')\n",
        "has already been added",
        4,
    ),
    "two dags of one id": (
        "with DAG('d'):\n    pass\nwith DAG('d'):\n    pass\n",
        "two DAGs in the file have the dag_id 'd'",
        None,
    ),
    "bad trigger rule": (
        "with DAG('d'):\n    EmptyOperator(task_id='a', trigger_rule='sometimes')\n",
        "trigger_rule must be one of",
        2,
    ),
    "unknown argument": (
        "with DAG('d'):\n    EmptyOperator(task_id='a', retires=3)\n",
        "Invalid arguments were passed to EmptyOperator",
        2,
    ),
    "missing argument": (
        "with DAG('d'):\n    BashOperator(task_id='a')\n",
        "missing keyword argument 'bash_command'",
        2,
    ),
    "positional argument": ("with DAG('d'):\n    EmptyOperator('a')\n", "Use keyword arguments", 2),
    "bad task id": (
        "with DAG('d'):\n    EmptyOperator(task_id='a b')\n",
        "has to be made of alphanumeric characters",
        2,
    ),
    "bad cron": ("DAG('d', schedule='61 * * * *')\n", "61 is outside 0-59", 1),
    "cron with too few fields": ("DAG('d', schedule='* * *')\n", "it has 3 fields", 1),
    "unknown preset": ("DAG('d', schedule='@dayly')\n", "unknown schedule preset '@dayly'", 1),
    "wrong schedule type": ("DAG('d', schedule=5)\n", "5 is not a valid schedule", 1),
    "continuous with many runs": ("DAG('d', schedule='@continuous')\n", "requires max_active_runs <= 1", 1),
    "negative delta": ("DAG('d', schedule=timedelta(hours=-1))\n", "must be positive", 1),
    "required param with schedule": (
        "with DAG('d', schedule='@daily', params={'p': Param(type='string')}):\n    pass\n",
        "its param 'p' has no default value",
        None,
    ),
    "edge between dags": (
        "with DAG('d'):\n    a = EmptyOperator(task_id='a')\nwith DAG('e'):\n    a >> EmptyOperator(task_id='b')\n",
        "more than one DAG",
        4,
    ),
    "unknown task decorator": (
        "with DAG('d'):\n    @task.spark_magic\n    def f(): pass\n",
        "@task.spark_magic is not a known task decorator",
        2,
    ),
    "xcom iterated": ("with DAG('d'):\n    @task\n    def f(): pass\n    for x in f(): pass\n", "not iterable", 4),
    "expand over a string": (
        "with DAG('d'):\n    @task\n    def f(x): pass\n    f.expand(x='abc')\n",
        "unexpected type 'str'",
        4,
    ),
    "expand twice the same": (
        "with DAG('d'):\n    @task\n    def f(x): pass\n    f.partial(x=1).expand(x=[1])\n",
        "multiple values for argument 'x'",
        4,
    ),
    "function called wrongly": (
        "with DAG('d'):\n    @task\n    def f(x): pass\n    f()\n",
        "missing a required argument: 'x'",
        4,
    ),
    "setup that is a teardown": (
        "with DAG('d'):\n    EmptyOperator(task_id='a').as_setup().as_teardown()\n",
        "already a setup",
        2,
    ),
    "missing module": ("import nonexistent_package\n", "No module named 'nonexistent_package'", 1),
    "removed module": ("from airflow.operators.subdag import SubDagOperator\n", "use a TaskGroup", 1),
    "contrib module without a present place": (
        "from airflow.contrib.hooks.nobody_hook import X\n",
        "provider package",
        1,
    ),
    "database session": (
        "from airflow.utils.session import create_session\nwith create_session() as s:\n    pass\n",
        "metadata database",
        2,
    ),
    "template field without attribute": (
        "class Op(BaseOperator):\n    template_fields = ('x',)\nwith DAG('d'):\n    Op(task_id='a')\n",
        "template field 'x' is not an attribute",
        None,
    ),
    "fail_fast with a trigger rule": (
        "with DAG('d', fail_fast=True):\n    EmptyOperator(task_id='a', trigger_rule='all_done')\n",
        "'fail_fast' Dag",
        2,
    ),
    "param that is no json": ("with DAG('d', params={'p': object()}):\n    pass\n", "is not a JSON value", None),
    "author's exception": ("raise ValueError('mine')\n", "ValueError: mine", 1),
}


CANNOT_BE_RECORDED = (
    "variable at top level",
    "hook used at top level",
    "custom timetable",
    "unknown task decorator",
)


class Refusals(unittest.TestCase):
    def test_each_case_names_what_is_wrong_and_where(self) -> None:
        for name, (body, message, line) in CASES.items():
            with self.subTest(name):
                answer = compile_text(HEAD + body)
                self.assertFalse(answer["ok"], "it compiled")
                error = answer["error"]
                self.assertIn(message, f"{error['message']} {error['instead']}")
                self.assertEqual(error["path"], "dag.py")
                if line is not None:
                    self.assertEqual(error["line"], HEAD.count("\n") + line)
                self.assertNotIn("svc_runtime/record", error["traceback"], "our own frames bury the author's")
                if name in CANNOT_BE_RECORDED:
                    self.assertEqual(error["type"], "cannot_record")
                    self.assertTrue(error["instead"], "it does not say what to do instead")


if __name__ == "__main__":
    unittest.main()
