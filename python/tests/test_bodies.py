"""Task bodies: every operator has a real execute(); the runner only brings the context."""

from __future__ import annotations

import datetime
import sys
import unittest

import airflow  # noqa: F401
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.datetime import BranchDateTimeOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import (
    BranchPythonOperator,
    ExternalPythonOperator,
    PythonOperator,
    ShortCircuitOperator,
)
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.operators.weekday import BranchDayOfWeekOperator
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import DAG, PokeReturnValue, TaskGroup, task
from svc_runtime.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTimeout,
    DagRunTriggerException,
    DownstreamTasksSkipped,
)
from svc_runtime.record import current

UTC = datetime.timezone.utc


class Instance:
    """The part of a task instance that bodies use, on plain dictionaries."""

    def __init__(self, values=None) -> None:
        self.values = values or {}
        self.pushed: dict = {}
        self.map_index = -1

    def xcom_push(self, key, value) -> None:
        self.pushed[key] = value

    def svc_resolve_xcom(self, operator, key):
        return self.values[operator.task_id, key]


def context(dag, **more) -> dict:
    ti = Instance(more.pop("values", None))
    return {
        "dag": dag,
        "ti": ti,
        "task_instance": ti,
        "ds": "2024-05-01",
        "params": {"n": 3},
        "logical_date": datetime.datetime(2024, 5, 1, tzinfo=UTC),
        **more,
    }


def across_the_border(a, b=1):
    import os

    return {"sum": a + b, "env": os.environ.get("MARK")}


class Bodies(unittest.TestCase):
    def setUp(self) -> None:
        current.reset()
        self.dag = DAG("bodies", schedule=None)

    def run_task(self, operator, **more):
        self.context = context(self.dag, **more)
        operator.render_template_fields(self.context)
        return operator.execute(self.context)

    def test_bash_gives_its_last_line_and_renders_its_command(self) -> None:
        op = BashOperator(
            task_id="b",
            bash_command="echo first; echo {{ ds }} $X",
            env={"X": "{{ params.n }}"},
            append_env=True,
            dag=self.dag,
        )
        self.assertEqual(self.run_task(op), "2024-05-01 3")

    def test_bash_exit_codes(self) -> None:
        with self.assertRaises(AirflowSkipException):
            self.run_task(BashOperator(task_id="skip", bash_command="exit 99", dag=self.dag))
        with self.assertRaisesRegex(AirflowException, "exit code 3"):
            self.run_task(BashOperator(task_id="fail", bash_command="exit 3", dag=self.dag))

    def test_python_gets_the_context_it_names_and_nothing_else(self) -> None:
        op = PythonOperator(
            task_id="p",
            python_callable=lambda x, ds, *, params: (x, ds, params["n"]),
            op_args=["{{ ds }}!"],
            dag=self.dag,
        )
        self.assertEqual(self.run_task(op), ("2024-05-01!", "2024-05-01", 3))
        everything = PythonOperator(task_id="q", python_callable=lambda **kw: sorted(kw)[:2], dag=self.dag)
        self.assertEqual(self.run_task(everything), ["dag", "ds"])

    def test_decorated_function_gets_values_of_other_tasks(self) -> None:
        with self.dag:

            @task
            def one():
                return 1

            @task
            def add(a, b, ds=None):
                return a, b, ds

            result = add(one(), b=[one()["k"]])
        values = {("one", "return_value"): 10, ("one__1", "k"): 20}
        self.assertEqual(self.run_task(result.operator, values=values), (10, [20], "2024-05-01"))

    def test_async_function_is_awaited(self) -> None:
        async def body():
            return 7

        self.assertEqual(self.run_task(PythonOperator(task_id="a", python_callable=body, dag=self.dag)), 7)

    def test_branch_skips_what_was_not_chosen_but_not_what_is_reached_anyway(self) -> None:
        branch = BranchPythonOperator(task_id="br", python_callable=lambda: "left", dag=self.dag)
        left, right, join = (EmptyOperator(task_id=n, dag=self.dag) for n in ("left", "right", "join"))
        branch >> [left, right, join]
        left >> join
        with self.assertRaises(DownstreamTasksSkipped) as raised:
            self.run_task(branch)
        self.assertEqual(raised.exception.tasks, ["right"])
        self.assertEqual(self.context["ti"].pushed["skipmixin_key"], {"followed": ["join", "left"]})

    def test_branch_into_a_group_and_to_nowhere(self) -> None:
        with self.dag:
            branch = BranchPythonOperator(task_id="br", python_callable=lambda: "g")
            with TaskGroup("g") as group:
                EmptyOperator(task_id="a") >> EmptyOperator(task_id="b")
            other = EmptyOperator(task_id="other")
            branch >> [group, other]
            elsewhere = BranchPythonOperator(task_id="elsewhere", python_callable=lambda: "other")
            nowhere = BranchPythonOperator(task_id="nowhere", python_callable=lambda: "nothing")
        with self.assertRaises(DownstreamTasksSkipped) as raised:
            self.run_task(branch)
        self.assertEqual(raised.exception.tasks, ["other"])
        self.assertEqual(self.run_task(elsewhere), "other")
        with self.assertRaisesRegex(AirflowException, "nothing"):
            self.run_task(nowhere)

    def test_short_circuit_skips_everything_below_or_only_the_next(self) -> None:
        for everything, expected in ((True, ["a", "b"]), (False, ["a"])):
            self.setUp()
            gate = ShortCircuitOperator(
                task_id="g", python_callable=list, ignore_downstream_trigger_rules=everything, dag=self.dag
            )
            a, b = EmptyOperator(task_id="a", dag=self.dag), EmptyOperator(task_id="b", dag=self.dag)
            gate >> a >> b >> EmptyOperator(task_id="t", dag=self.dag).as_teardown()
            with self.assertRaises(DownstreamTasksSkipped) as raised:
                self.run_task(gate)
            self.assertEqual(raised.exception.tasks, expected)

    def test_date_branches(self) -> None:
        yes, no = EmptyOperator(task_id="yes", dag=self.dag), EmptyOperator(task_id="no", dag=self.dag)
        common = {
            "follow_task_ids_if_true": "yes",
            "follow_task_ids_if_false": "no",
            "use_task_logical_date": True,
            "dag": self.dag,
        }
        day = BranchDayOfWeekOperator(task_id="day", week_day="Wednesday", **common)
        night = BranchDateTimeOperator(
            task_id="night", target_lower=datetime.time(22), target_upper=datetime.time(4), **common
        )
        for branch, skipped in ((day, ["no"]), (night, ["yes"])):
            branch >> [yes, no]
            with self.assertRaises(DownstreamTasksSkipped) as raised:
                self.run_task(branch)
            self.assertEqual(raised.exception.tasks, skipped)

    def test_sensor_gives_back_its_slot_or_gives_up(self) -> None:
        answers = iter([False, PokeReturnValue(True, "v")])
        poking = PythonSensor(task_id="s", python_callable=lambda: next(answers), poke_interval=0.01, dag=self.dag)
        self.assertEqual(self.run_task(poking), "v")
        waiting = PythonSensor(
            task_id="r", python_callable=lambda: False, mode="reschedule", poke_interval=60, dag=self.dag
        )
        with self.assertRaises(AirflowRescheduleException) as raised:
            self.run_task(waiting)
        self.assertGreater(raised.exception.reschedule_date, datetime.datetime.now(UTC))
        for soft, error in ((False, AirflowSensorTimeout), (True, AirflowSkipException)):
            late = PythonSensor(
                task_id=f"l{soft}",
                python_callable=lambda: False,
                timeout=0,
                soft_fail=soft,
                poke_interval=0.01,
                dag=self.dag,
            )
            with self.assertRaises(error):
                self.run_task(late)

    def test_what_a_poke_raises_ends_a_sensor_as_on_airflow(self) -> None:
        # As an Airflow 3.2.2 gives them for the same sensors: alone, soft_fail, never_fail, silent_fail, soft_fail and silent_fail.
        skip, late = AirflowSkipException, AirflowSensorTimeout
        table: dict[type[BaseException], list[type[BaseException]]] = {
            ValueError: [ValueError, ValueError, skip, late, skip],
            AirflowException: [AirflowException, AirflowException, skip, late, skip],
            AirflowFailException: [AirflowFailException, skip, skip, AirflowFailException, skip],
            AirflowSkipException: [skip, skip, skip, skip, skip],
            AirflowSensorTimeout: [late, skip, skip, late, skip],
            AirflowTaskTimeout: [AirflowTaskTimeout, skip, skip, AirflowTaskTimeout, skip],
        }
        ways: list[dict] = [{}, {"soft_fail": True}, {"never_fail": True}, {"silent_fail": True}]
        ways.append({"soft_fail": True, "silent_fail": True})
        for raised, ends in table.items():
            for way, end in zip(ways, ends, strict=True):
                with self.subTest(raised=raised, way=way):

                    def poke(raised=raised):
                        raise raised("on purpose")

                    name = f"{raised.__name__}_{'_'.join(way)}"
                    sensor = PythonSensor(
                        task_id=name, python_callable=poke, timeout=0, poke_interval=0.01, dag=self.dag, **way
                    )
                    with self.assertRaises(end) as caught:
                        self.run_task(sensor)
                    self.assertIs(type(caught.exception), end)

    def test_other_interpreter_gets_source_arguments_and_environment(self) -> None:
        op = ExternalPythonOperator(
            task_id="x",
            python=sys.executable,
            python_callable=across_the_border,
            op_args=[2],
            op_kwargs={"b": 3},
            env_vars={"MARK": "m"},
            dag=self.dag,
        )
        self.assertEqual(self.run_task(op), {"sum": 5, "env": "m"})

    def test_trigger_hands_its_request_over(self) -> None:
        op = TriggerDagRunOperator(task_id="t", trigger_dag_id="other", conf={"d": "{{ ds }}"}, dag=self.dag)
        with self.assertRaises(DagRunTriggerException) as raised:
            self.run_task(op)
        request = vars(raised.exception)
        self.assertEqual((request["trigger_dag_id"], request["conf"]), ("other", {"d": "2024-05-01"}))

    def test_mapped_task_becomes_a_real_one_per_item(self) -> None:
        with self.dag:

            @task(retries=4)
            def add(x, y):
                return x + y

            mapped = add.partial(y=10).expand(x=[1, 2]).operator
            bash = BashOperator.partial(task_id="b", env={"A": "z"}).expand(bash_command=["echo ${A}{{ ds }}"])
        before = set(self.dag.task_dict)
        one = mapped.unmap({"x": 2})
        self.assertEqual((self.run_task(one), one.retries, one.task_id), (12, 4, "add"))
        self.assertEqual(self.run_task(bash.unmap({"bash_command": "echo ${A}{{ ds }}"})), "z2024-05-01")
        self.assertEqual(set(self.dag.task_dict), before, "a real task must not join the graph")

    def test_macros_filters_and_native_values(self) -> None:
        dag = DAG(
            "m",
            user_defined_macros={"twice": lambda x: x * 2},
            user_defined_filters={"loud": str.upper},
            render_template_as_native_obj=True,
        )
        op = PythonOperator(
            task_id="p",
            python_callable=lambda a, b: (a, b),
            op_args=["{{ twice(params.n) }}", "{{ 'x' | loud }}"],
            dag=dag,
        )
        self.dag = dag
        self.assertEqual(self.run_task(op), (6, "X"))

    def test_undefined_names_in_templates_fail(self) -> None:
        import jinja2

        with self.assertRaises(jinja2.UndefinedError):
            self.run_task(BashOperator(task_id="b", bash_command="echo {{ nothing.here }}", dag=self.dag))

    def test_run_if_and_skip_if_decide_before_the_body(self) -> None:
        with self.dag:

            @task.run_if(lambda context: context["params"]["n"] > 5, skip_message="too small")
            @task
            def body():
                return 1

            op = body().operator
        with self.assertRaisesRegex(AirflowSkipException, "too small"):
            op.pre_execute(context(self.dag))
        op.pre_execute(context(self.dag, params={"n": 9}))


if __name__ == "__main__":
    unittest.main()
