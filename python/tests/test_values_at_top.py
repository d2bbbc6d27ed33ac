"""Variables and connections that a file reads at its top: while it is compiled, and where its tasks run."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import unittest

from svc_runtime.compile.cache import Cache
from svc_runtime.compile_server import Server

from .run_agent import Agent, Refused

_HEAD = "from airflow.sdk import DAG, BaseHook, Variable, task\n"


class WhileItIsCompiled(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server(1)

    def submit(self, number: int, text: str) -> None:
        path = self.folder / f"file{number}.py"
        path.write_text(text, encoding="utf-8")
        limits = {"wall_seconds": 600}
        self.server.submit({"id": number, "path": str(path), "values": True, "limits": limits})

    def lines(self, count: int) -> list:
        found: list = []
        while len(found) < count:
            found += [json.loads(line) for line in self.server.step()]
        return found

    def answer(self, number: int, **answer) -> None:
        self.server._accept(json.dumps({"id": number, "answer": answer}).encode())

    def test_a_file_that_waits_for_an_answer_neither_holds_up_others_nor_uses_up_its_time(self) -> None:
        self.submit(1, f'{_HEAD}with DAG(Variable.get("a" + "b")):\n    pass\n')
        [asked] = self.lines(1)
        self.assertEqual(asked, {"id": 1, "asked": {"kind": "variable", "name": "ab", "declared": False}})
        for number in (2, 3):
            self.submit(number, f'{_HEAD}with DAG("d{number}"):\n    pass\n')
        self.assertEqual([line["ok"] for line in self.lines(2)], [True, True])
        [waiting] = self.server.jobs.values()
        waiting.started -= 1_000
        assert waiting.waits_since is not None
        waiting.waits_since -= 1_000
        self.server.step()
        self.answer(1, text="late")
        [done] = self.lines(1)
        self.assertEqual([dag["dag_id"] for dag in done["dags"]], ["late"], done.get("error"))

    def test_an_answer_that_the_file_never_reads_does_not_stop_the_compiler(self) -> None:
        self.submit(1, 'import os, time\nos.write(3, b\'?{"kind": "variable", "name": "x"}\\n\')\ntime.sleep(60)\n')
        self.lines(1)
        self.answer(1, text="x" * 1_000_000)
        self.submit(2, f'{_HEAD}with DAG("d2"):\n    pass\n')
        for job in self.server.jobs.values():
            job.limits.wall_seconds = 1
        self.assertEqual({line["id"]: line["ok"] for line in self.lines(2)}, {1: False, 2: True})

    def test_a_file_that_asks_without_end_is_stopped(self) -> None:
        self.submit(1, "import os\nwhile True: os.write(3, b'?{}\\n')\n")
        while not (last := [json.loads(line) for line in self.server.step() if '"ok"' in line]):
            pass
        self.assertEqual(last[0]["error"]["type"], "questions")

    def test_a_file_cannot_answer_for_another_one_nor_leave_itself_without_an_answer(self) -> None:
        for number, word in enumerate(("id", "asked", "output"), 1):
            self.submit(number, f'import os\nos.write(3, b\'{{"ok": true, "dags": [], "{word}": 7}}\')\nos._exit(0)\n')
            [answer] = self.lines(1)
            self.assertEqual((answer["id"], answer["ok"], "asked" in answer), (number, False, False))

    def test_an_answer_of_the_cache_is_never_given_to_a_file_that_reads_a_variable(self) -> None:
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        self.server = Server(1, cache=Cache(cache.name))
        for value in ("one", "two"):
            self.submit(1, f'{_HEAD}with DAG(Variable.get("x", "default")):\n    pass\n')
            self.assertEqual(self.lines(1)[0]["asked"]["name"], "x")
            self.answer(1, text=value)
            self.assertEqual([dag["dag_id"] for dag in self.lines(1)[0]["dags"]], [value])
        (self.folder / "plain.py").write_text(f'{_HEAD}with DAG("plain"):\n    pass\n', encoding="utf-8")
        for _ in range(2):
            self.server.submit({"id": 2, "path": str(self.folder / "plain.py"), "values": True})
            self.assertEqual(self.lines(1)[0]["dags"][0]["dag_id"], "plain")
        self.assertEqual(
            len([name for name in os.listdir(cache.name) if name.endswith(".json")]), 1, "of the plain file"
        )

    def test_a_name_is_declared_if_the_file_writes_it_out_and_one_value_is_seen_by_the_whole_file(self) -> None:
        self.submit(1, f'{_HEAD}with DAG(Variable.get("x") + Variable.get("x", "y")):\n    pass\n')
        [asked] = self.lines(1)
        self.assertEqual(asked["asked"], {"kind": "variable", "name": "x", "declared": True})
        self.answer(1, text="v")
        [done] = self.lines(1)
        self.assertEqual([dag["dag_id"] for dag in done["dags"]], ["vv"])
        self.assertEqual(done["warnings"], [])

    def test_the_default_stands_for_what_does_not_exist_and_nothing_for_what_is_refused(self) -> None:
        text = f'{_HEAD}BaseHook.get_connection("c")\n'
        for answer, message in (
            ({"text": None}, "The conn_id `c` isn't defined"),
            ({"refusal": "not yours", "instead": "ask"}, "not yours"),
        ):
            self.submit(1, text)
            self.lines(1)
            self.answer(1, **answer)
            self.assertIn(message, self.lines(1)[0]["error"]["message"])
        self.submit(2, f'{_HEAD}with DAG(Variable.get("x", "default")):\n    pass\n')
        self.lines(1)
        self.answer(2, text=None)
        self.assertEqual(self.lines(1)[0]["dags"][0]["dag_id"], "default")


_TASKS = """
    import json, sys
    from airflow.sdk import DAG, BaseHook, Variable, task

    loads = 0
    with DAG("d", schedule=None):
        for name in Variable.get("names", "[]", deserialize_json=True):
            @task(task_id=f"load_{name}")
            def load():
                return [BaseHook.get_connection("c").host, sys.modules.get("wave") is not None]
            load()
    import wave
"""


def _not_found(**_):
    raise Refused("no such thing", "not_found")


class WhereItsTasksRun(unittest.TestCase):
    def test_a_task_that_a_loop_over_a_variable_made_finds_itself(self) -> None:
        values = {"names": '["a", "b"]'}
        answers = {
            "get_variable": lambda key: {"value": values[key]},
            "get_connection": lambda id: {"conn_type": "http", "host": "h"},
        }
        with Agent(_TASKS) as agent:
            self.assertEqual((agent.loaded["event"], agent.loaded["preloaded"]), ("ready", False))
            for task_id in ("load_a", "load_b"):
                attempt = agent.run(task_id, answers=answers)
                self.assertEqual(attempt.result["state"], "success", attempt.text())
                self.assertEqual(attempt.value(), ["h", True])

    def test_declared_values_come_with_the_job_and_a_refusal_fails_the_attempt_with_its_reason(self) -> None:
        with Agent(_TASKS.replace(', "[]"', "")) as agent:
            self.assertEqual(agent.loaded["event"], "ready", "without a default, too")
            answers = {"get_variable": _not_found, "get_connection": lambda id: {"host": "h"}}
            attempt = agent.run("load_a", answers=answers, env={"AIRFLOW_VAR_NAMES": '["a"]'})
            self.assertEqual(attempt.result["state"], "success", attempt.text())
            attempt = agent.run("load_a", answers=answers)
            self.assertEqual(attempt.result["state"], "failed")
            self.assertIn("Variable names does not exist", attempt.text())


if __name__ == "__main__":
    unittest.main()
