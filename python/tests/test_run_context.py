"""What a task body and its templates see."""

from __future__ import annotations

import unittest

from svc_runtime.exceptions import AirflowNotFoundException, AirflowRuntimeError
from svc_runtime.run.secrets import Connection, VariableNotFound

from .run_agent import Agent, Refused

TEXT = """
    import datetime, os
    from airflow.sdk import DAG, Param, Variable, Connection, BaseHook, get_current_context, task, task_group
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.operators.python import PythonOperator

    def show(*values):
        return [type(value).__name__ + " " + str(value) for value in values]

    with DAG("d", schedule=None, params={"p": Param(1), "q": "dag"}, user_defined_macros={"shout": str.upper},
             template_searchpath=[os.environ["SVC_DAGS_FOLDER"] + "/more"]):
        @task
        def names(**context):
            return sorted(context)

        @task
        def dates(logical_date, ds, ds_nodash, ts, ts_nodash, ts_nodash_with_tz, data_interval_start, data_interval_end,
                  prev_data_interval_start_success, prev_start_date_success):
            return show(logical_date, ds, ds_nodash, ts, ts_nodash, ts_nodash_with_tz, data_interval_start,
                        data_interval_end, prev_data_interval_start_success, prev_start_date_success)

        @task
        def run(dag_run, run_id, dag, task, ti, task_instance, task_instance_key_str):
            return [run_id, dag_run.run_id, dag_run.run_type, dag_run.conf, str(dag_run.run_after), dag.dag_id, task.task_id,
                    ti is task_instance, ti.try_number, ti.max_tries, ti.map_index, task_instance_key_str, ti.log_url,
                    get_current_context()["ti"] is ti, dag_run.triggering_user_name, ti.get_dagrun() is dag_run]

        @task
        def links(ti):
            from airflow.configuration import conf
            return [ti.log_url, conf.get("api", "base_url"), conf.get("webserver", "base_url")]

        @task
        def no_date(**context):
            return [context["dag_run"].logical_date, "ds" in context, "logical_date" in context]

        @task(params={"q": "task", "r": "own"})
        def params(params):
            return params

        names(), dates(), run(), links(), no_date(), params()
        templated = PythonOperator(
            task_id="templated",
            python_callable=lambda *args, **kw: [*args, kw["templates_dict"]],
            op_args=["{{ ds }}", ["{{ macros.ds_add(ds, 5) }}", {"k": "{{ params.p + 1 }}"}], "{{ shout('x') }}", 5,
                     "{{ data_interval_start | ds_nodash }}", "{{ ti.task_id }}/{{ task.task_id }}/{{ run_id }}"],
            templates_dict={"t": "{{ var.value.plain }} {{ var.json.data.a }} {{ var.value.get('none', 'fallback') }} "
                                 "{{ conn.db.host }}:{{ conn.get('nope', 'no') }}"},
        )
        BashOperator(task_id="script", bash_command="script.sh", env={"A": "{{ ds }}"}, append_env=True)
        BashOperator(task_id="searched", bash_command="found.sh")
        BashOperator(task_id="plain", bash_command="echo 'a b'")
        BashOperator(task_id="lines", bash_command="echo one\\n")
        PythonOperator(task_id="undefined", python_callable=print, op_args=["{{ nothing.there }}"])

        @task
        def secrets():
            found = [Variable.get("in_env"), Variable.get("asked"), Variable.get("missing", default="d")]
            found += [Variable.get("asked_json", deserialize_json=True)]
            connection = Connection.get("asked")
            hooked = BaseHook.get_connection("in_env")
            found += [connection.host, connection.port, connection.password, hooked.login, hooked.schema]
            return found

        @task
        def missing():
            return Variable.get("missing")

        @task
        def writes():
            Variable.set("k", {"a": 1}, serialize_json=True)
            Variable.delete("k")

        @task
        def denied():
            return Variable.get("denied")

        secrets(), missing(), writes(), denied()

    with DAG("native", schedule=None, render_template_as_native_obj=True):
        PythonOperator(task_id="native", python_callable=lambda a, b: [a, b], op_args=["{{ [1, params.n] }}", "7"])
"""


class Context(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        files = {
            "script.sh": "echo {{ ds_nodash }} $A\n",
            "more/found.sh": "echo {{ run_id }}\n",
        }
        cls.agent = Agent.ready(TEXT, files=files)
        cls.addClassCleanup(cls.agent.close)

    def value(self, task_id: str, **options):
        attempt = self.agent.run(task_id, **options)
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return attempt.value()

    def test_no_name_of_the_context_is_missing(self) -> None:
        expected = (
            "conn dag dag_run data_interval_end data_interval_start ds ds_nodash expanded_ti_count inlet_events inlets "
            "logical_date macros map_index_template outlet_events outlets params partition_date partition_key "
            "prev_data_interval_end_success prev_data_interval_start_success prev_end_date_success prev_start_date_success "
            "run_id task task_instance task_instance_key_str task_reschedule_count templates_dict test_mode ti "
            "triggering_asset_events ts ts_nodash ts_nodash_with_tz var"
        )
        names = self.value("names")
        self.assertEqual(set(expected.split()) - set(names), set())
        self.assertEqual([name for name in names if name.startswith("svc")], [])

    def test_dates_are_pendulum_in_utc_and_texts_as_airflow_writes_them(self) -> None:
        previous = {"data_interval_start_success": "2024-04-30T00:00:00Z"}
        self.assertEqual(
            self.value("dates", previous=previous),
            [
                "DateTime 2024-05-01 10:20:30+00:00",
                "str 2024-05-01",
                "str 20240501",
                "str 2024-05-01T10:20:30+00:00",
                "str 20240501T102030",
                "str 20240501T102030+0000",
                "DateTime 2024-05-01 00:00:00+00:00",
                "DateTime 2024-05-02 00:00:00+00:00",
                "DateTime 2024-04-30 00:00:00+00:00",
                "NoneType None",
            ],
        )

    def test_run_and_instance(self) -> None:
        found = self.value("run", try_number=3, max_tries=4, run={"conf": {"c": 1}})
        self.assertEqual(
            found,
            [
                "manual__1",
                "manual__1",
                "manual",
                {"c": 1},
                "2024-05-02 00:00:00+00:00",
                "d",
                "run",
                True,
                3,
                4,
                -1,
                "d__run__20240501",
                "http://localhost:8080/dags/d/runs/manual__1/tasks/run?try_number=3",
                True,
                "ada",
                True,
            ],
        )

    def test_links_lead_where_users_reach_the_server(self) -> None:
        base = "https://flows.example.com/svc"
        link = f"{base}/dags/d/runs/manual__1/tasks/links?try_number=1"
        self.assertEqual(self.value("links", base_url=base), [link, base, base])
        local = "http://localhost:8080/"
        self.assertEqual(self.value("links", base_url="")[1:], [local, local])

    def test_a_run_without_logical_date_has_no_names_made_from_it(self) -> None:
        self.assertEqual(self.value("no_date", run={"logical_date": None}), [None, False, False])

    def test_params_of_the_task_come_between_those_of_the_dag_and_the_conf(self) -> None:
        self.assertEqual(self.value("params", params={"p": 1, "q": "dag"}), {"p": 1, "q": "task", "r": "own"})
        self.assertEqual(
            self.value("params", params={"p": 1, "q": "conf"}, run={"conf": {"q": "conf"}}),
            {"p": 1, "q": "conf", "r": "own"},
        )

    def test_templates_in_every_place(self) -> None:
        env = {
            "AIRFLOW_VAR_PLAIN": "v",
            "AIRFLOW_VAR_DATA": '{"a": 5}',
            "AIRFLOW_CONN_DB": "postgres://u:pw@db.host:5432/x",
        }
        missing = Refused("no such thing", "not_found")

        def refuse(**_):
            raise missing

        answers = {"get_variable": refuse, "get_connection": refuse}
        attempt = self.agent.run("templated", env=env, params={"p": 1}, answers=answers)
        self.assertEqual(
            attempt.value(),
            [
                "2024-05-01",
                ["2024-05-06", {"k": "2"}],
                "X",
                5,
                "20240501",
                "templated/templated/manual__1",
                {"t": "v 5 fallback db.host:no"},
            ],
        )
        self.assertEqual(attempt.result["rendered_fields"]["op_args"][1], ["2024-05-06", {"k": "2"}])

    def test_templates_from_files(self) -> None:
        self.assertEqual(self.value("script"), "20240501 2024-05-01")
        self.assertEqual(self.value("searched"), "manual__1")

    def test_text_without_templates_is_treated_as_jinja_would(self) -> None:
        plain = self.agent.run("plain")
        self.assertEqual((plain.value(), plain.result["rendered_fields"]["bash_command"]), ("a b", "echo 'a b'"))
        self.assertEqual(self.agent.run("lines").result["rendered_fields"]["bash_command"], "echo one")

    def test_an_undefined_name_fails_the_task_before_its_body(self) -> None:
        attempt = self.agent.run("undefined")
        self.assertEqual(attempt.result["state"], "failed")
        self.assertEqual(
            attempt.result["failure"], {"cause": "exception", "text": "UndefinedError: 'nothing' is undefined"}
        )

    def test_variables_and_connections_from_the_environment_and_by_asking(self) -> None:
        variables = {"asked": "value", "asked_json": '{"x": [1]}'}
        connections = {"asked": {"conn_type": "http", "host": "h", "port": 8, "password": "hidden-1"}}

        def get_variable(key):
            if key not in variables:
                raise Refused("no such variable", "not_found")
            return {"value": variables[key]}

        answers = {"get_variable": get_variable, "get_connection": lambda id: connections[id]}
        env = {"AIRFLOW_VAR_IN_ENV": "e", "AIRFLOW_CONN_IN_ENV": '{"conn_type": "x", "login": "me", "schema": "s"}'}
        found = self.value("secrets", answers=answers, env=env)
        self.assertEqual(found, ["e", "value", "d", {"x": [1]}, "h", 8, "hidden-1", "me", "s"])
        missing = self.agent.run("missing", answers=answers)
        self.assertEqual(missing.result["failure"]["text"], "VariableNotFound: Variable missing does not exist")

    def test_writing_variables_asks_and_refusals_are_errors(self) -> None:
        attempt = self.agent.run("writes")
        self.assertEqual(
            [(request["method"], request["params"]) for request in attempt.requests],
            [
                ("set_variable", {"key": "k", "value": '{"a": 1}', "description": None}),
                ("delete_variable", {"key": "k"}),
            ],
        )

        def refuse(**_):
            raise Refused("not declared by this DAG", "denied")

        denied = self.agent.run("denied", answers={"get_variable": refuse})
        self.assertEqual(denied.result["failure"]["text"], "RequestFailed: not declared by this DAG")


class Connections(unittest.TestCase):
    def test_a_uri_holds_what_a_query_cannot_as_json_and_becomes_the_same_connection(self) -> None:
        place: dict = {"conn_type": "my_type", "host": "h", "login": "l", "password": "p@", "port": 1, "schema": "s/t"}
        for extra, query in (
            ('{"a": "1", "b": ""}', "?a=1&b="),
            ('{"a": 1}', "?__extra__=%7B%22a%22%3A+1%7D"),
            ('{"a": {"b": [true]}}', "?__extra__=%7B%22a%22%3A+%7B%22b%22%3A+%5Btrue%5D%7D%7D"),
            ("not json", "?__extra__=not+json"),
            (None, ""),
        ):
            with self.subTest(extra=extra):
                uri = Connection(conn_id="c", **place, extra=extra).get_uri()
                self.assertEqual(uri, f"my-type://l:p%40@h:1/s%2Ft{query}")
                again = Connection(conn_id="c", uri=uri)
                self.assertEqual({name: getattr(again, name) for name in place}, place)
                self.assertEqual(again.extra_dejson, Connection(conn_id="c", extra=extra).extra_dejson)

    def test_a_host_with_a_protocol_keeps_it_before_the_login(self) -> None:
        uri = Connection(conn_id="c", conn_type="my_type", host="http://x.y", login="l", password="p").get_uri()
        self.assertEqual(uri, "my-type://http://l:p@x.y/")

    def test_a_missing_variable_is_what_code_for_airflow_3_catches(self) -> None:
        self.assertTrue(issubclass(VariableNotFound, AirflowRuntimeError))
        self.assertTrue(issubclass(VariableNotFound, AirflowNotFoundException))


class Native(unittest.TestCase):
    def test_native_rendering_gives_objects(self) -> None:
        with Agent(TEXT, dag_id="native") as agent:
            attempt = agent.run("native", dag_id="native", python_dag_id="native", params={"n": 2})
            self.assertEqual(attempt.value(), [[1, 2], 7])

    def test_template_files_of_the_version_win_over_the_disk(self) -> None:
        with Agent(TEXT, files={"script.sh": "echo disk\n"}) as agent:
            self.assertEqual(agent.run("script").value(), "disk")
        with Agent(TEXT, files={"script.sh": "echo disk\n"}, version_files={"script.sh": "echo version\n"}) as agent:
            self.assertEqual(agent.run("script").value(), "version")


if __name__ == "__main__":
    unittest.main()
