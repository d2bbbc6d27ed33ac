"""What a task says: every line, in order, with level and time, and never a secret."""

from __future__ import annotations

import datetime
import re
import unittest
from random import Random
from types import SimpleNamespace

from svc_runtime.run.masks import Masks
from svc_runtime.run.rendered import rendered_fields

from .nightly import IS_NIGHTLY
from .run_agent import Agent

TEXT = """
    import logging, os, subprocess, sys, time, warnings
    from airflow.sdk import DAG, BaseHook, Connection, Variable, task
    from airflow.sdk.log import mask_secret
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.operators.python import PythonOperator

    # Made while the file is loaded, before there is a task: its words must reach the task's log nevertheless.
    early = logging.getLogger("early")
    early.addHandler(logging.StreamHandler(sys.stdout))
    early.propagate = False

    with DAG("d", schedule=None):
        @task
        def speaks():
            print("first")
            logging.getLogger("mine").warning("second %s", 2)
            print("third", file=sys.stderr)
            early.error("fourth")
            sys.stdout.write("fi")
            sys.stdout.write("fth\\nsixth\\n\\nwithout an end")
            logging.debug("not shown")
            logging.getLogger("mine").critical("last")

        @task
        def wrong_format():
            logging.getLogger("mine").info("%d things", "three")

        @task
        def bytes_out():
            sys.stdout.buffer.write("ünicode \\udcff".encode(errors="surrogateescape") + b"\\n")
            for part in "ü".encode():
                sys.stdout.buffer.write(bytes([part]))
            sys.stdout.flush()
            print()
            print("\\ud800 and \\x00")
            print("is a tty:", sys.stdout.isatty(), sys.stdout.encoding)

        @task
        def programs():
            subprocess.run(["sh", "-c", "echo direct; echo wrong >&2"])
            subprocess.run(["sh", "-c", "echo through python"], stdout=sys.stdout, stderr=sys.stderr)
            os.write(1, b"descriptor\\n")

        @task
        def logs_error():
            try:
                raise ValueError("inner secret-value-1")
            except ValueError:
                logging.exception("caught")

        @task
        def long_line():
            print("x" * 200_000)
            print("y" * 70_000, end="")

        @task
        def many():
            for i in range(20_000):
                print(i)

        @task
        def slow():
            print("one")
            print("two")
            time.sleep(1000)

        @task
        def warns():
            warnings.warn("careful")

        @task
        def secrets(argument):
            print("given: secret-value-1, quoted: secret%2Fvalue%202, json: " + argument)
            logging.getLogger("mine").info("args %s", {"x": "secret-value-1"})
            print(Connection.get("db").password, Connection.get("db").extra)
            print(BaseHook.get_connection("env").password)
            print(Variable.get("api_token"), Variable.get("plain"))
            mask_secret({"deep": ["noted-secret"]})
            print("noted-secret", "key line one", "key line two")
            raise ValueError("failed with secret-value-1 and noted-secret")

        for each in (speaks, wrong_format, bytes_out, programs, logs_error, long_line, many, slow, warns):
            each()
        secrets("secret-value-1")
        PythonOperator(task_id="fields", python_callable=print, templates_dict={"password": "p", "url": "http://u:secret-value-1@h"},
                       op_kwargs={"big": "z" * 10_000, "when": "{{ logical_date }}"})
        BashOperator(task_id="bash", bash_command="echo to stdout; echo to stderr >&2; printf '\\\\xff no end'")
"""


class Logs(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def test_everything_is_said_in_order_with_level_logger_and_time(self) -> None:
        before = datetime.datetime.now(datetime.timezone.utc)
        attempt = self.agent.run("speaks")
        said = [(r["level"], r["logger"], r["event"]) for r in attempt.records if r["logger"] != _PYTHON]
        self.assertEqual(
            said,
            [
                ("info", "task.stdout", "first"),
                ("warning", "mine", "second 2"),
                ("error", "task.stderr", "third"),
                ("info", "task.stdout", "fourth"),
                ("info", "task.stdout", "fifth"),
                ("info", "task.stdout", "sixth"),
                ("info", "task.stdout", ""),
                ("critical", "mine", "last"),
                ("info", "task.stdout", "without an end"),
            ],
        )
        times = [record["timestamp"] for record in attempt.records]
        for text in times:
            self.assertRegex(text, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertLessEqual(before.isoformat(timespec="microseconds").replace("+00:00", "Z"), times[0])
        self.assertEqual(times[:-1], sorted(times[:-1]))
        record = attempt.records[1]
        self.assertEqual((record["filename"], type(record["lineno"])), ("dag.py", int))

    def test_level_of_the_log_is_a_setting(self) -> None:
        with Agent.ready(TEXT, env={"AIRFLOW__LOGGING__LOGGING_LEVEL": "DEBUG"}) as agent:
            self.assertIn("not shown", agent.run("speaks").events())
        attempt = self.agent.run("speaks", env={"AIRFLOW__LOGGING__LOGGING_LEVEL": "error"})
        self.assertEqual(attempt.events("mine"), ["last"])

    def test_a_wrong_format_keeps_the_message(self) -> None:
        self.assertIn("%d things ('three',)", self.agent.run("wrong_format").text())

    def test_bytes_and_characters_no_database_takes(self) -> None:
        lines = self.agent.run("bytes_out").events("task.stdout")
        self.assertEqual(lines, ["ünicode \\xff", "ü", "? and \ufffd", "is a tty: False utf-8"])

    def test_what_bypasses_python_goes_through_the_descriptors(self) -> None:
        attempt = self.agent.run("programs")
        self.assertEqual(attempt.streams, {"stdout": b"direct\nthrough python\ndescriptor\n", "stderr": b"wrong\n"})

    def test_output_of_commands_is_in_the_log(self) -> None:
        attempt = self.agent.run("bash")
        self.assertEqual(attempt.events()[:3], ["to stdout", "to stderr", "\\xff no end"])

    def test_logged_exceptions_have_their_traceback(self) -> None:
        record = self.agent.run("logs_error", masks=["secret-value-1"]).records[0]
        self.assertTrue(record["event"].startswith("caught\nTraceback (most recent call last)"), record["event"])
        self.assertIn("ValueError: inner ***", record["event"])
        self.assertEqual(record["error_detail"][0]["exc_value"], "inner ***")

    def test_long_lines_are_split_and_nothing_is_lost(self) -> None:
        lines = self.agent.run("long_line").events("task.stdout")
        self.assertEqual("".join(lines), "x" * 200_000 + "y" * 70_000)
        self.assertLessEqual(max(map(len, lines)), 64 * 1024)

    def test_a_flood_arrives_whole_and_in_order(self) -> None:
        self.assertEqual(self.agent.run("many").events("task.stdout"), [str(i) for i in range(20_000)])

    def test_a_line_is_seen_at_once_even_when_silence_follows(self) -> None:
        attempt = self.agent.start("slow")
        self.agent.pump(lambda: attempt.events() == ["one", "two"])
        self.agent.kill(attempt, 9)
        self.agent.pump(lambda: attempt.over)

    def test_warnings_are_visible(self) -> None:
        self.assertIn("careful", self.agent.run("warns").text())

    def test_secrets_are_masked_in_records_failures_and_fields(self) -> None:
        answers = {
            "get_connection": {
                "conn_type": "x",
                "password": "asked-password",
                "extra": '{"api_key": "in-extra", "a": "open"}',
            },
            "get_variable": lambda key: {"value": {"api_token": "token-value", "plain": "plain-value"}[key]},
        }
        masks = ["secret-value-1", "secret/value 2", "key line one\nkey line two\n"]
        env = {"AIRFLOW_CONN_ENV": "x://u:env-password@h"}
        attempt = self.agent.run("secrets", answers=answers, masks=masks, env=env, values={})
        self.assertEqual(
            attempt.events("task.stdout"),
            [
                "given: ***, quoted: ***, json: ***",
                '*** {"api_key": "***", "a": "open"}',
                "***",
                "*** plain-value",
                "*** *** ***",
            ],
        )
        self.assertIn("args {'x': '***'}", attempt.events("mine"))
        self.assertEqual(attempt.result["failure"]["text"], "ValueError: failed with *** and ***")
        everything = str(attempt.records) + str(attempt.result)
        for secret in ("secret-value", "asked-password", "in-extra", "token-value", "noted-secret", "env-password"):
            self.assertNotIn(secret, everything)
        self.assertEqual(attempt.result["rendered_fields"]["op_args"], ["***"])

    def test_secrets_in_answers_are_masked_as_the_agent_says(self) -> None:
        answers = {
            "get_connection": {"conn_type": "x", "password": "p"},
            "get_variable": lambda key: {"value": f"{key} and agent-knows"},
            "masks": ["agent-knows"],
        }
        lines = self.agent.run("secrets", answers=answers, env={"AIRFLOW_CONN_ENV": "x://h"}).events("task.stdout")
        self.assertIn("plain and ***", lines[3])

    def test_rendered_fields_are_masked_by_name_and_value_and_kept_short(self) -> None:
        fields = self.agent.run("fields", masks=["secret-value-1"]).result["rendered_fields"]
        self.assertEqual(fields["templates_dict"], {"password": "***", "url": "http://u:***@h"})
        self.assertTrue(fields["op_kwargs"].startswith("Truncated. The field has 10"), fields["op_kwargs"][:80])
        self.assertLess(len(fields["op_kwargs"]), 4096)

    def test_moments_in_rendered_fields_are_written_as_on_airflow(self) -> None:
        moment = datetime.datetime(2024, 3, 10, 2, 30, tzinfo=datetime.timezone.utc)
        task = SimpleNamespace(template_fields=("a",), svc_set_by_body=(), a=[moment, moment.date()])
        self.assertEqual(rendered_fields(task), {"a": ["2024-03-10 02:30:00+00:00", "2024-03-10"]})


_PYTHON = "airflow.task.operators.airflow.providers.standard.decorators.python._PythonDecoratedOperator"


class Masking(unittest.TestCase):
    def test_longer_secrets_are_not_left_half(self) -> None:
        masks = Masks()
        masks.add("abcdef")
        masks.add("abcdefgh")
        self.assertEqual(masks.apply("abcdefgh abcdef"), "*** ***")

    def test_all_are_found_as_one_pattern_of_them_would_find_them(self) -> None:
        random = Random(7)

        def text(letters: str, most: int) -> str:
            return "".join(random.choice(letters) for _ in range(random.randint(1, most)))

        many = "abcdefghijklmnopqrst[]^-.*\\"
        for case in range(3_000 if IS_NIGHTLY else 600):
            letters = "ab^]" if case % 2 else many
            secrets = sorted({text(letters, 11) for _ in range(random.randint(1, 40))} - {"***"}, key=len, reverse=True)
            masks = Masks()
            for secret in secrets:
                masks.add(secret)
            if not masks._values:
                continue
            pattern = re.compile("|".join(map(re.escape, sorted(masks._values, key=len, reverse=True))))
            said = text(letters + " ", 60)
            self.assertEqual(masks.apply(said), pattern.sub("***", said), (secrets, said))

    def test_short_and_common_words_stay_readable_whoever_calls_them_secrets(self) -> None:
        masks = Masks()
        for word in ("user", "1", "true", "success", "Admin", '{\n"k": "value of several lines"\n}'):
            masks.add(word)
        said = "user 1: true, success for Admin {} braces"
        self.assertEqual(masks.apply(said), said)


if __name__ == "__main__":
    unittest.main()
