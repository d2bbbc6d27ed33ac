"""How attempts end: every kind of failure, skip and stop, and which callbacks hear of it."""

from __future__ import annotations

import signal
import unittest

from .run_agent import Agent

TEXT = """
    import asyncio, os, signal, subprocess, sys, threading, time
    from datetime import timedelta
    from airflow.exceptions import AirflowFailException, AirflowSkipException, AirflowException, AirflowSensorTimeout
    from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, BaseNotifier, task
    from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryDecision, RetryPolicy, RetryRule
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.sensors.python import PythonSensor

    def heard(name):
        def callback(context):
            ti = context["ti"]
            print("heard", name, ti.task_id, ti.state, type(context.get("exception")).__name__)
        return callback

    class Notifier(BaseNotifier):
        template_fields = ("message",)

        def __init__(self, message):
            super().__init__()
            self.message = message

        def notify(self, context):
            print("notified", self.message)

    def bad_callback(context):
        raise RuntimeError("callback broke")

    CALLBACKS = {f"on_{name}_callback": heard(name) for name in ("execute", "success", "failure", "retry", "skipped")}

    class Broken(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    class Killable(BaseOperator):
        def __init__(self, stubborn=False, is_late=False, **kwargs):
            super().__init__(**kwargs)
            self.stubborn = stubborn
            self.is_late = is_late

        def execute(self, context):
            try:
                print("working")
                if self.is_late:  # its time is over now, however slowly it has begun
                    signal.setitimer(signal.ITIMER_REAL, 0.01)
                while True:
                    try:
                        time.sleep(0.01)
                    except Exception:
                        print("an Exception must not be raised here")
                    except BaseException:
                        if not self.stubborn:
                            raise
                        return "swallowed"
            finally:
                print("cleaning up")

        def on_kill(self):
            print("on_kill")

    def on_dag(name):
        def callback(context):
            print("run", name, context["dag_run"].state, context["reason"], context["run_id"])
            if "ti" in context:
                print("shows", context["ti"].task_id, context["task_instance"].state, context["task"].task_id)
        return callback

    with DAG("d", schedule=None, default_args=CALLBACKS, on_success_callback=on_dag("success"),
             on_failure_callback=[on_dag("failure"), bad_callback]):
        @task
        def good():
            return 1

        @task(on_success_callback=[Notifier("{{ ti.task_id }} {{ ds }}"), bad_callback, heard("second")])
        def notifies():
            return 1

        @task
        def value_error():
            raise ValueError("bad\\nvalue " + "x" * 500)

        @task
        def chained():
            try:
                {}["missing"]
            except KeyError as error:
                raise RuntimeError("outer") from error

        @task
        def fail():
            raise AirflowFailException("never again")

        @task
        def skip():
            raise AirflowSkipException("not today")

        @task
        def exits(code=0):
            sys.exit(code)

        @task
        def interrupt():
            raise KeyboardInterrupt

        @task
        def base_exception():
            class Odd(BaseException): ...
            raise Odd("odd")

        @task
        def recursion():
            def deep(n):
                return deep(n + 1)
            return deep(0)

        @task
        def unprintable():
            raise Broken()

        @task
        def hard_exit():
            os._exit(3)

        @task
        def segfault():
            os.kill(os.getpid(), signal.SIGSEGV)

        @task
        def memory():
            raise MemoryError()

        @task
        def generator():
            yield 5
            return 7

        @task
        def returns_generator():
            return (x for x in ())

        @task
        async def coroutine():
            await asyncio.sleep(0.001)
            return "awaited"

        @task
        def forks():
            # The copy falls through the body, as careless code does; only one result may reach the agent.
            pid = os.fork()
            print("in both")
            if pid:
                os.waitpid(pid, 0)
            return "one"

        @task
        def threads():
            def work(n):
                for i in range(50):
                    print("thread", n, i)
            workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            [w.start() for w in workers]
            [w.join() for w in workers]

        @task(execution_timeout=timedelta(seconds=0.2))
        def too_long():
            try:
                time.sleep(100)
            except Exception:
                pass

        @task(execution_timeout=timedelta(seconds=100))
        def not_too_long():
            return signal.getitimer(signal.ITIMER_REAL)[0] > 50

        @task
        def timer_is_off():
            return list(signal.getitimer(signal.ITIMER_REAL))

        @task(pre_execute=lambda context: print("pre"), post_execute=lambda context, result: print("post", result))
        def hooks():
            print("body")
            return 3

        @task.run_if(lambda context: False, skip_message="not wanted")
        @task
        def conditional():
            return 1

        class Asked(RetryPolicy):
            def __init__(self, answer=None):
                self.answer = answer

            def evaluate(self, exception, try_number, max_tries, context=None):
                print("asked for try", try_number, "of", max_tries, "of", context["ti"].task_id)
                if isinstance(self.answer, Exception):
                    raise self.answer
                return self.answer

        BY_RULES = ExceptionRetryPolicy([
            RetryRule("builtins.ConnectionError", retry_delay=timedelta(seconds=9), reason="the line is busy"),
            RetryRule(["no.such.Error", KeyError], action=RetryAction.FAIL),
            RetryRule(ValueError, action=RetryAction.FAIL, match_subclasses=False),
        ])
        policies = {
            "retries_later": (BY_RULES, ConnectionResetError("gone")),
            "gives_up": (BY_RULES, KeyError("k")),
            "undecided": (BY_RULES, UnicodeError("a relative of ValueError")),
            "asked": (Asked(RetryDecision.retry(reason="again")), ValueError()),
            "breaks": (Asked(RuntimeError("policy broke")), ValueError()),
            "odd_answer": (Asked("retry"), ValueError()),
            "final": (Asked(RetryDecision.retry()), AirflowFailException("never")),
        }

        def raises(error):
            raise error

        for name, (policy, error) in policies.items():
            task(task_id=name, retries=3, retry_policy=policy)(raises)(error)

        for each in (good, notifies, value_error, chained, fail, skip, exits, interrupt, base_exception, recursion, unprintable,
                     hard_exit, segfault, memory, generator, returns_generator, coroutine, forks, threads, too_long,
                     not_too_long, timer_is_off, hooks, conditional):
            each()
        Killable(task_id="killable")
        Killable(task_id="stubborn", stubborn=True)
        Killable(task_id="killed_by_time", is_late=True, execution_timeout=timedelta(seconds=1000))
        BashOperator(task_id="bash", bash_command="echo started; sleep 1000 & wait")
        BashOperator(task_id="bash_in_time", bash_command="sleep 1000", execution_timeout=timedelta(seconds=0.3))
        PythonSensor(task_id="sensor", python_callable=lambda: False, timeout=0, poke_interval=0.01)
        PythonSensor(task_id="waits", python_callable=lambda: False, timeout=50, poke_interval=60, mode="reschedule")
        PythonSensor(task_id="soft", python_callable=lambda: False, timeout=0, poke_interval=0.01, soft_fail=True)
"""


class Outcomes(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def heard(self, task_id: str, **options) -> tuple:
        attempt = self.agent.run(task_id, **options)
        lines = [line.removeprefix("heard ") for line in attempt.events("task.stdout") if line.startswith("heard ")]
        return attempt, lines

    def failed(self, task_id: str, cause: str, text: str, *, retryable: bool = True, **options):
        attempt, heard = self.heard(task_id, **options)
        result = attempt.result
        self.assertEqual((result["state"], result["retryable"]), ("failed", retryable), attempt.text())
        self.assertEqual(result["failure"], {"cause": cause, "text": text})
        self.assertEqual(attempt.exit["status"], 0)
        self.assertEqual([line.split()[0] for line in heard][-1], "failure")
        return attempt

    def test_success_calls_execute_and_success_callbacks(self) -> None:
        attempt, heard = self.heard("good")
        self.assertEqual(heard, ["execute good running NoneType", "success good success NoneType"])
        self.assertEqual(attempt.result["failure"], None)

    def test_callbacks_that_break_change_nothing_and_are_in_the_log(self) -> None:
        attempt, heard = self.heard("notifies")
        self.assertEqual(attempt.result["state"], "success")
        self.assertIn("notified notifies 2024-05-01", attempt.events())
        self.assertIn("RuntimeError: callback broke", attempt.text())
        self.assertEqual(heard[-1].split()[0], "second")

    def test_an_exception_fails_the_task_with_a_short_text_and_a_full_traceback(self) -> None:
        attempt = self.agent.run("value_error")
        text = attempt.result["failure"]["text"]
        self.assertTrue(text.startswith("ValueError: bad value xxx") and text.endswith("x…") and len(text) == 300, text)
        record = next(record for record in attempt.records if record["event"].startswith("Task failed"))
        self.assertIn("Traceback (most recent call last)", record["event"])
        self.assertIn('raise ValueError("bad', record["event"])
        self.assertNotIn("svc_runtime/run/attempt.py", record["event"])
        self.assertEqual((record["level"], record["error_detail"][0]["exc_type"]), ("error", "ValueError"))
        frame = record["error_detail"][0]["frames"][-1]
        self.assertEqual((frame["name"], frame["filename"].rpartition("/")[2]), ("value_error", "dag.py"))

    def test_a_traceback_begins_with_the_frames_of_the_author_and_ours_are_in_a_closed_group_behind_it(self) -> None:
        attempt = self.agent.run("value_error")
        place = next(i for i, record in enumerate(attempt.records) if record["event"].startswith("Task failed"))
        said, begin, frames, end = attempt.records[place : place + 4]
        lines = said["event"].splitlines()
        first = lines.index("Traceback (most recent call last):") + 1
        self.assertRegex(lines[first], r'^  File ".*dag\.py", line \d+, in value_error$')
        self.assertEqual([name for name in ("/svc_runtime/", "/airflow/") if name in said["event"]], [])
        self.assertEqual((begin["event"], end["event"]), ("::group::Frames of svc", "::endgroup::"))
        self.assertIn("svc_runtime/run/attempt.py", frames["event"])
        self.assertNotIn("dag.py", frames["event"])
        self.assertNotIn("error_detail", frames)

    def test_causes_are_part_of_the_detail(self) -> None:
        attempt = self.failed("chained", "exception", "RuntimeError: outer")
        record = next(record for record in attempt.records if "error_detail" in record)
        detail = record["error_detail"]
        self.assertEqual(
            [(d["exc_type"], d["is_cause"]) for d in detail], [("RuntimeError", False), ("KeyError", True)]
        )
        self.assertIn("The above exception was the direct cause", record["event"])

    def test_retry_or_failure_callback_as_the_job_says(self) -> None:
        for options, expected in (({"retry_on_failure": True}, "retry"), ({}, "failure")):
            _, heard = self.heard("chained", **options)
            state = "up_for_retry" if expected == "retry" else "failed"
            self.assertEqual(heard[-1], f"{expected} chained {state} RuntimeError")
        _, heard = self.heard("fail", retry_on_failure=True)
        self.assertEqual(heard[-1].split()[0], "failure", "a failure without retry is final, whatever is left")

    def test_a_retry_policy_decides_by_the_exception_and_a_broken_one_changes_nothing(self) -> None:
        more = {"retry_on_failure": True, "max_tries": 3}
        ends = {}
        for task_id in ("retries_later", "gives_up", "undecided", "asked", "breaks", "odd_answer", "final"):
            attempt, heard = self.heard(task_id, **more)
            result = attempt.result
            failure = result["failure"]
            ends[task_id] = (result["retryable"], result["retry_delay"], failure["cause"], heard[-1].split()[0])
        self.assertEqual(
            ends,
            {
                "retries_later": (True, 9.0, "exception", "retry"),
                "asked": (True, None, "exception", "retry"),
                "gives_up": (False, None, "failed_without_retry", "failure"),
                "undecided": (True, None, "exception", "retry"),
                "breaks": (True, None, "exception", "retry"),
                "odd_answer": (True, None, "exception", "retry"),
                "final": (False, None, "failed_without_retry", "failure"),
            },
        )
        later, _ = self.heard("retries_later", **more)
        self.assertEqual(
            later.result["failure"]["text"], "ConnectionResetError: gone (retry policy: retry, the line is busy)"
        )
        self.assertIn("Retry policy: retry after 9 s: the line is busy", later.text())
        self.assertIn("asked for try 1 of 3 of asked", self.heard("asked", **more)[0].text())
        self.assertIn("The retry policy failed", self.heard("breaks", **more)[0].text())

    def test_every_other_way_to_fail(self) -> None:
        self.failed("fail", "failed_without_retry", "AirflowFailException: never again", retryable=False)
        self.failed("exits", "exception", "SystemExit: 0")
        self.failed("interrupt", "exception", "KeyboardInterrupt")
        self.failed("base_exception", "exception", "Odd: odd")
        self.failed("recursion", "exception", "RecursionError: maximum recursion depth exceeded")
        self.failed("unprintable", "exception", "Broken: (its text cannot be made)")
        self.failed("memory", "exception", "MemoryError")
        timed_out = self.agent.run("sensor").result
        self.assertEqual((timed_out["failure"]["cause"], timed_out["retryable"]), ("sensor_timeout", False))
        generator = self.agent.run("returns_generator").result["failure"]["text"]
        self.assertIn("cannot pass a value of type builtins.generator", generator)

    def test_a_process_that_vanishes_leaves_no_result_but_an_exit(self) -> None:
        hard, crash = self.agent.run("hard_exit"), self.agent.run("segfault")
        self.assertEqual((hard.result, hard.exit["status"], hard.exit["signal"]), (None, 3, None))
        self.assertEqual((crash.result, crash.exit["status"], crash.exit["signal"]), (None, None, signal.SIGSEGV))
        self.assertIn(b"Segmentation fault", crash.streams["stderr"])
        self.assertIn(b"in segfault", crash.streams["stderr"])

    def test_skips(self) -> None:
        for task_id, words in (("skip", "not today"), ("conditional", "not wanted"), ("soft", "timed out")):
            attempt, heard = self.heard(task_id)
            self.assertEqual((attempt.result["state"], attempt.result["failure"]), ("skipped", None))
            self.assertIn(words, attempt.text())
            self.assertEqual(heard[-1].split()[:3], ["skipped", task_id, "skipped"])

    def test_reschedule_carries_its_time_and_calls_nobody(self) -> None:
        attempt, heard = self.heard("waits")
        self.assertEqual(attempt.result["state"], "reschedule")
        self.assertRegex(attempt.result["reschedule_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$")
        self.assertEqual([line.split()[0] for line in heard], ["execute"])
        # The first poke was long ago: the time already waited counts.
        late = self.agent.run("waits", first_poke_at="2024-01-01T00:00:00Z")
        self.assertEqual(late.result["failure"]["cause"], "sensor_timeout")

    def test_functions_of_every_kind(self) -> None:
        self.assertEqual(self.agent.run("coroutine").value(), "awaited")
        generator = self.agent.run("generator")
        self.assertEqual(generator.value(), 7)
        self.assertIn("Ignoring a int that the task yielded", generator.text())

    def test_a_forked_copy_of_the_body_stays_silent(self) -> None:
        attempt = self.agent.run("forks")
        self.assertEqual(attempt.value(), "one")
        self.assertEqual(attempt.events("task.stdout").count("in both"), 1)
        self.assertIn(b"in both\n", attempt.streams["stderr"])

    def test_threads_do_not_tear_each_others_lines(self) -> None:
        lines = self.agent.run("threads").events("task.stdout")
        threads = [line for line in lines if line.startswith("thread")]
        self.assertEqual(sorted(threads), sorted(f"thread {n} {i}" for n in range(4) for i in range(50)))

    def test_hooks_run_around_the_body(self) -> None:
        lines = [line for line in self.agent.run("hooks").events("task.stdout") if not line.startswith("heard")]
        self.assertEqual(lines, ["pre", "body", "post 3"])


class Stopping(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def test_timeout_cannot_be_swallowed_by_except_exception(self) -> None:
        result = self.agent.run("too_long").result
        expected = "AirflowTaskTimeout: the task ran longer than its execution_timeout of 0.2 s"
        self.assertEqual(result["failure"], {"cause": "exception", "text": expected})

    def test_timeout_calls_on_kill_and_lets_the_body_clean_up(self) -> None:
        lines = self.agent.run("killed_by_time").events("task.stdout")
        self.assertEqual(
            [line for line in lines if not line.startswith("heard")], ["working", "cleaning up", "on_kill"]
        )

    def test_timeout_stops_a_program(self) -> None:
        # The program would sleep for longer than a test waits for anything.
        attempt = self.agent.run("bash_in_time")
        self.assertIn("AirflowTaskTimeout", attempt.result["failure"]["text"])

    def test_the_versions_limit_wins_over_the_files(self) -> None:
        self.assertTrue(self.agent.run("not_too_long").value())
        shorter = self.agent.run("killable", spec={"execution_timeout": 0.1})
        self.assertIn("execution_timeout of 0.1 s", shorter.result["failure"]["text"])
        self.assertEqual(self.agent.run("timer_is_off").value(), [0.0, 0.0])

    def test_sigterm_calls_on_kill_and_ends_by_the_signal_without_result(self) -> None:
        for task_id in ("killable", "stubborn"):
            attempt = self.agent.start(task_id)
            self.agent.pump(lambda attempt=attempt: "working" in attempt.events())
            self.agent.kill(attempt, signal.SIGTERM)
            self.agent.pump(lambda attempt=attempt: attempt.over)
            self.assertEqual((attempt.result, attempt.exit["signal"]), (None, signal.SIGTERM))
            lines = [line for line in attempt.events("task.stdout") if not line.startswith("heard")]
            self.assertEqual(lines, ["working", "on_kill", "cleaning up"])
            self.assertNotIn("heard success", attempt.text())

    def test_sigterm_stops_a_program_in_good_order(self) -> None:
        attempt = self.agent.start("bash")
        self.agent.pump(lambda: "started" in attempt.events())
        self.agent.kill(attempt, signal.SIGTERM)
        self.agent.pump(lambda: attempt.over)
        self.assertEqual((attempt.result, attempt.exit["signal"]), (None, signal.SIGTERM))


class Callbacks(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def test_callbacks_of_a_run(self) -> None:
        attempt = self.agent.run(None, kind="callback", scope="run", which="on_success", reason="success")
        self.assertEqual(attempt.events("task.stdout"), ["run success success success manual__1"])
        self.assertEqual(attempt.result["state"], "success")
        shown = {"shown_state": "failed", "end_date": "2026-01-01T00:00:00Z"}
        job = {"kind": "callback", "scope": "run", "which": "on_failure", "reason": "timed_out", **shown}
        failed = self.agent.run("good", **job)
        seen = ["run failure failed timed_out manual__1", "shows good failed good"]
        self.assertEqual(failed.events("task.stdout"), seen)
        self.assertEqual(failed.result["failure"]["text"], "RuntimeError: callback broke")

    def test_callbacks_of_a_task_whose_process_is_gone(self) -> None:
        for which in ("failure", "retry"):
            job = {"kind": "callback", "scope": "task", "which": f"on_{which}", "reason": "killed by a signal"}
            attempt = self.agent.run("good", **job)
            self.assertEqual(attempt.events("task.stdout"), [f"heard {which} good running AirflowException"])


if __name__ == "__main__":
    unittest.main()
