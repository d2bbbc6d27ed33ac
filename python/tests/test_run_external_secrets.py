"""Connections and variables from the operator's secrets backend: order, scope, masks, cache, and what is said of failures."""

from __future__ import annotations

import json
import unittest

from .run_agent import Agent, Refused

# What a provider package would bring. It notes what it is asked for.
STORE = """
    import json, logging
    from airflow.secrets import BaseSecretsBackend
    from airflow.models import Connection
    from airflow.utils.log.logging_mixin import LoggingMixin

    log = logging.getLogger("store")

    class Store(BaseSecretsBackend, LoggingMixin):
        def __init__(self, connections_prefix="c", variables_prefix="v", **kwargs):
            super().__init__()
            assert kwargs.get("token") == "store-token-0123", "arguments are handed on as they are"
            self.prefixes = connections_prefix, variables_prefix

        def get_conn_value(self, conn_id, team_name=None):
            print(f"asked for connection {self.build_path(self.prefixes[0], conn_id)}")
            log.debug("the answer of the store is store-pass-9876")
            return {
                "uri": "postgres://ada:store-pass-9876@store.host:5432/db?sslmode=require&api_key=store-key-5555",
                "json": json.dumps({"conn_type": "http", "host": "json.host", "password": "store-pass-json", "port": "80"}),
                "both": "postgres://ada:store-pass-9876@store.host/db",
                "broken": "{store-broken-value",
                "odd": json.dumps({"conn_type": "x", "server": "store-odd-value"}),
                "port": "postgres://h:store-port-value/db",
                "down": None,
            }.get(conn_id) if conn_id != "down" else self.fail()

        def get_variable(self, key, team_name=None):
            print(f"asked for variable {self.build_path(self.prefixes[1], key)}")
            if key == "down":
                self.fail()
            return {"plain": "store-plain-value", "data": '{"inner": "store-inner-value"}', "both": "store"}.get(key)

        def fail(self):
            try:
                raise ValueError("store-quoted-value")
            except ValueError as error:
                raise ConnectionError("no route to the store with store-token-0123") from error

    class Bare:
        "Of no family at all: only what the resolver needs."
        def __init__(self, **kwargs):
            self.kwargs = kwargs
        def get_conn_value(self, conn_id):
            return "http://bare.host"
        def get_variable(self, key):
            return "bare-" + key

    class Old(BaseSecretsBackend):
        def __init__(self, connections_path=None, **kwargs):
            assert connections_path == "old"
        def get_connection(self, conn_id):
            return Connection(conn_id=conn_id, conn_type="old", host="old.host", password="old-password-1")

    class Nested(BaseSecretsBackend):
        "Looks up a connection of its own, as one that needs a role would."
        def __init__(self, **kwargs):
            pass
        def get_variable(self, key, team_name=None):
            return Connection.get("inner").host
        def get_conn_value(self, conn_id, team_name=None):
            raise AssertionError("a backend is not asked while it answers")

    class Picky(BaseSecretsBackend):
        def __init__(self, variables_prefix, *, secret):
            raise ValueError(f"cannot use {secret}")
"""

TEXT = """
    import os, subprocess
    from airflow.sdk import DAG, BaseHook, Connection, Variable, task
    from airflow.providers.standard.operators.python import PythonOperator

    os.environ["SVC_SECRETS_BACKEND"] = "nobody.Asks"

    with DAG("d", schedule=None):
        @task
        def variables(dag_run):
            names, *default = dag_run.conf["of"]
            return [Variable.get(name, *default) for name in names]

        @task
        def connection(dag_run):
            found = BaseHook.get_connection(dag_run.conf["of"][0])
            return [found.conn_type, found.host, found.login, found.password, found.port, found.schema, found.extra_dejson]

        @task
        def prints():
            import logging
            found = Connection.get("uri")
            print(found.password, found.extra_dejson["api_key"], Variable.get("plain"), Variable.get("data"))
            logging.getLogger("mine").warning("inner %s", Variable.get("data", deserialize_json=True)["inner"])
            print("arguments", os.environ["SVC_SECRETS_BACKEND_KWARGS"])
            subprocess.run(["sh", "-c", f"echo raw {found.password}"])

        @task
        def sets():
            Variable.set("plain", "mine")
            Variable.set("other", "mine")

        @task
        def default_of(dag_run):
            return Variable.get(dag_run.conf["of"][0], default="default")

        PythonOperator(task_id="templates", python_callable=lambda *args: list(args),
                       op_args=["{{ conn.uri.password }}", "{{ var.value.plain }}", "{{ var.json.data.inner }}",
                                "{{ conn.get('none', 'no') }}", "{{ var.value.get('none', 'no') }}"])
        variables(), connection(), prints(), sets(), default_of()
"""

ARGUMENTS = {"connections_prefix": "conns", "variables_prefix": "vars", "token": "store-token-0123"}


def _refuse(**_):
    raise Refused("no such thing", "not_found")


NOTHING = {"get_variable": _refuse, "get_connection": _refuse}


def _agent(backend: str = "store.Store", arguments: dict | None = None) -> Agent:
    settings = {
        "SVC_SECRETS_BACKEND": backend,
        "SVC_SECRETS_BACKEND_KWARGS": json.dumps(ARGUMENTS if arguments is None else arguments),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "DEBUG",
    }
    return Agent.ready(TEXT, files={"store.py": STORE}, settings=settings)


class ExternalSecrets(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = _agent()
        cls.addClassCleanup(cls.agent.close)

    def run_task(self, task_id: str, *arguments, agent: Agent | None = None, answers: dict | None = None, **job):
        run = {"conf": {"of": list(arguments)}}
        return (agent or self.agent).run(task_id, run=run, answers={**NOTHING, **(answers or {})}, **job)

    def value(self, task_id: str, *arguments, **options):
        attempt = self.run_task(task_id, *arguments, **options)
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return attempt.value()

    def failure(self, task_id: str, *arguments, **options) -> str:
        attempt = self.run_task(task_id, *arguments, **options)
        self.assertEqual(attempt.result["state"], "failed", attempt.text())
        return attempt.result["failure"]["text"]

    def test_the_backend_is_asked_first_then_the_environment_then_the_control_plane(self) -> None:
        env = {"AIRFLOW_VAR_BOTH": "vault", "AIRFLOW_VAR_VAULT": "vault", "AIRFLOW_CONN_BOTH": "http://vault.host"}
        asked = {"get_variable": lambda key: {"value": "control plane"} if key == "late" else _refuse()}
        found = self.value("variables", ["both", "vault", "late"], env=env, answers=asked)
        self.assertEqual(found, ["store", "vault", "control plane"])
        self.assertEqual(self.value("connection", "both", env=env)[1], "store.host")

    def test_connections_come_as_uri_and_as_json(self) -> None:
        self.assertEqual(
            self.value("connection", "uri"),
            [
                "postgres",
                "store.host",
                "ada",
                "store-pass-9876",
                5432,
                "db",
                {"sslmode": "require", "api_key": "store-key-5555"},
            ],
        )
        self.assertEqual(self.value("connection", "json"), ["http", "json.host", None, "store-pass-json", 80, None, {}])

    def test_templates_go_through_it_and_rendered_fields_hide_the_values(self) -> None:
        attempt = self.run_task("templates")
        self.assertEqual(attempt.value(), ["store-pass-9876", "store-plain-value", "store-inner-value", "no", "no"])
        self.assertEqual(attempt.result["rendered_fields"]["op_args"], ["***", "***", "***", "no", "no"])

    def test_values_and_arguments_are_masked_at_once_and_the_agent_is_told_before_the_value_is_there(self) -> None:
        attempt = self.run_task("prints")
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        text = attempt.text()
        self.assertIn("*** *** *** ***", text)
        self.assertIn("inner ***", text)
        for secret in ("store-pass", "store-key", "store-plain", "store-inner", "store-token"):
            self.assertNotIn(secret, text)
        told = [set(request["params"]["values"]) for request in attempt.requests if request["method"] == "add_masks"]
        self.assertIn({"store-pass-9876", "store-key-5555"}, told)

    def test_what_was_asked_is_remembered_for_the_attempt_misses_too(self) -> None:
        attempt = self.run_task("variables", ["plain", "plain", "none", "none", "plain"], "default")
        self.assertEqual(attempt.value(), ["store-plain-value"] * 2 + ["default"] * 2 + ["store-plain-value"])
        asked = [event for event in attempt.events() if event.startswith("asked for")]
        self.assertEqual(asked, ["asked for variable vars/plain", "asked for variable vars/none"])
        again = self.run_task("variables", ["plain"])
        self.assertIn("asked for variable vars/plain", again.text())

    def test_a_kind_without_a_prefix_is_not_asked_for(self) -> None:
        for arguments in ({"variables_prefix": "v"}, {"variables_prefix": "v", "connections_prefix": None}):
            with _agent(arguments={**arguments, "token": "store-token-0123"}) as agent:
                self.assertEqual(self.value("variables", ["both"], agent=agent), ["store"])
                attempt = self.run_task("connection", "uri", agent=agent)
                self.assertEqual(attempt.result["failure"]["text"], NOT_DEFINED)
                self.assertNotIn("asked for connection", attempt.text())

    def test_under_enforce_only_what_the_dag_declares_is_asked_for(self) -> None:
        def deny(**_):
            raise Refused("the DAG does not declare it", "denied")

        scope = {"scope": "enforce", "declared": {"connections": [], "variables": ["both"]}}
        self.assertEqual(self.value("variables", ["both"], secrets=scope), ["store"])
        answers = {"get_variable": deny, "get_connection": deny}
        for attempt in (
            self.run_task("variables", ["plain"], secrets=scope, answers=answers),
            self.run_task("connection", "uri", secrets=scope, answers=answers),
        ):
            self.assertIn("does not declare it", attempt.result["failure"]["text"])
            self.assertNotIn("asked for", attempt.text())

    def test_a_store_that_fails_is_warned_about_and_the_vault_answers(self) -> None:
        attempt = self.run_task("variables", ["down"], env={"AIRFLOW_VAR_DOWN": "vault"})
        self.assertEqual(attempt.value(), ["vault"])
        self.assertIn(
            "the secrets backend store.Store failed (ConnectionError: no route to the store with ***) when it was asked "
            "for the variable down: the built-in vault is asked instead",
            attempt.events(),
        )
        self.assertNotIn("store-quoted-value", attempt.text())

    def test_a_default_does_not_stand_for_a_store_that_could_not_be_asked(self) -> None:
        text = self.failure("default_of", "down")
        self.assertEqual(
            text,
            "ExternalSecretsFailed: the secrets backend store.Store failed (ConnectionError: no route to the store with "
            "***), and the built-in vault has no variable down",
        )
        self.assertEqual(self.value("default_of", "none"), "default")

    def test_a_value_that_cannot_be_read_is_never_quoted(self) -> None:
        for name in ("broken", "odd", "port"):
            with self.subTest(name):
                attempt = self.run_task("connection", name)
                self.assertIn("store.Store failed (svc_runtime.run.secrets.UnreadableConnection: ", attempt.text())
                self.assertNotIn(f"store-{name}-value", attempt.text() + json.dumps(attempt.result))

    def test_setting_what_the_backend_has_is_warned_about(self) -> None:
        attempt = self.run_task("sets", answers={"set_variable": None})
        warned = [event for event in attempt.events() if "was set in the built-in vault" in event]
        self.assertEqual(len(warned), 1)
        self.assertIn("Variable plain", warned[0])

    def test_other_forms_of_backends(self) -> None:
        with _agent("store.Bare", {"connections_prefix": "", "variables_prefix": ""}) as agent:
            self.assertEqual(self.value("variables", ["x"], agent=agent), ["bare-x"])
            self.assertEqual(self.value("connection", "x", agent=agent)[1], "bare.host")
        with _agent("store.Old", {"connections_path": "old"}) as agent:
            self.assertEqual(self.value("connection", "x", agent=agent)[:2], ["old", "old.host"])
        with _agent("store.Nested", {"connections_prefix": "", "variables_prefix": ""}) as agent:
            env = {"AIRFLOW_CONN_INNER": "http://inner.host"}
            self.assertEqual(self.value("variables", ["x"], agent=agent, env=env), ["inner.host"])

    def test_a_class_that_cannot_be_used_is_an_error_that_says_what_to_do(self) -> None:
        path = "airflow.providers.microsoft.azure.secrets.key_vault.AzureKeyVaultBackend"
        with _agent(path) as agent:
            text = self.failure("variables", ["x"], agent=agent, env={"AIRFLOW_VAR_X": "vault"})
            self.assertTrue(text.startswith(f"AirflowConfigException: secrets.backend {path} cannot be loaded"), text)
            self.assertIn("No module named 'airflow.providers.microsoft'", text)
            self.assertIn("add apache-airflow-providers-microsoft-azure to the dependencies in svc.yaml", text)
        with _agent("store.Picky", {"variables_prefix": "", "secret": "picky-secret-1"}) as agent:
            text = self.failure("variables", ["x"], agent=agent)
            self.assertIn(
                "the secrets backend store.Picky cannot be made (ValueError): the operator has to correct", text
            )
        with _agent("store.Picky", {"variables_prefix": "", "secret": "picky-secret-1", "more": 1}) as agent:
            text = self.failure("variables", ["x"], agent=agent)
            self.assertIn("unexpected keyword argument 'more'", text)

    def test_tasks_that_ask_for_nothing_need_no_backend(self) -> None:
        with _agent("nowhere.AtAll") as agent:
            attempt = agent.run("sets", answers={"set_variable": None})
            self.assertEqual(attempt.result["state"], "success", attempt.text())


NOT_DEFINED = "AirflowNotFoundException: The conn_id `uri` isn't defined"
