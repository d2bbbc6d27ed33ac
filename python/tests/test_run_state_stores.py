"""What tasks keep across tries: the state stores of the context, ResumableJobMixin, and `svc.step`."""

from __future__ import annotations

import json
import unittest

from .run_agent import Agent, Refused

TEXT = """
    import asyncio, datetime, math
    from airflow.sdk import DAG, Asset, AssetAlias, BaseOperator, NEVER_EXPIRE, ResumableJobMixin, task
    from airflow.sdk.execution_time.context import NEVER_EXPIRE as ALSO
    from svc import step

    ORDERS, RETURNS = Asset("orders", uri="s3://orders"), Asset("returns")

    def problem_of(call):
        try:
            call()
        except Exception as error:
            return [isinstance(error, ValueError), isinstance(error, TypeError), str(error)]

    with DAG("d", schedule=None):
        @task
        def keeps(task_state_store=None):
            first = task_state_store.get("job", default="none")
            task_state_store.set("job", {"id": [1, 2.5, None, True]}, retention=NEVER_EXPIRE)
            task_state_store.set("short", "x", retention=datetime.timedelta(minutes=1))
            task_state_store.set("usual", 1)
            found = task_state_store.get("job")
            task_state_store.delete("short")
            return [first, found, ALSO is NEVER_EXPIRE]

        @task
        async def keeps_async(**context):
            store = context["task_state_store"]
            await store.aset("a", 1)
            await asyncio.gather(*(store.aset(f"k{n}", n) for n in range(5)))
            found = [await store.aget("a"), await store.aget("none", 7)]
            await store.adelete("a")
            await store.aclear()
            return found

        @task
        def unfit(task_state_store=None):
            values = [None, (1,), datetime.date(2026, 1, 1), {1: 2}, {"a": {3}}, math.nan]
            return [problem_of(lambda: task_state_store.set("k", value)) for value in values] + [
                problem_of(lambda: task_state_store.set("k", 1, retention=5)),
                problem_of(lambda: task_state_store.get(5)),
                problem_of(lambda: task_state_store.set("large", "x" * 1000)),
            ]

        @task(outlets=[ORDERS])
        def one_asset(asset_state_store=None):
            asset_state_store.set("mark", "2026-01-01")
            return [asset_state_store.get("mark"), asset_state_store[ORDERS].get("none", 3)]

        @task(inlets=[ORDERS, Asset.ref(name="by_name")], outlets=[RETURNS])
        def several(asset_state_store=None):
            asset_state_store[RETURNS].set("n", 1)
            asset_state_store[Asset.ref(name="returns")].get("n")
            asset_state_store[Asset("by_name", uri="x://y")].get("n")
            return [
                problem_of(lambda: asset_state_store.get("n")),
                problem_of(lambda: asset_state_store[Asset("other")]),
                problem_of(lambda: asset_state_store["returns"]),
            ]

        @task(outlets=[AssetAlias("alias")])
        def none(asset_state_store="absent", **context):
            return [asset_state_store, "asset_state_store" in context, "task_state_store" in context]

        class Submits(ResumableJobMixin, BaseOperator):
            def execute(self, context):
                return self.execute_resumable(context)

            def submit_job(self, context):
                print("submitted")
                return {"job": 1}

            def get_job_status(self, external_id, context):
                return context["dag_run"].conf["status"]

            def is_job_active(self, status):
                return status == "RUNNING"

            def is_job_succeeded(self, status):
                return status == "DONE"

            def poll_until_complete(self, external_id, context):
                print("polled", external_id)

            def get_job_result(self, external_id, context):
                return external_id

        Submits(task_id="submits")
        Submits(task_id="starts_over", durable=False)

        counts = {}

        @step
        def double(n, *, plus=0):
            counts[n] = counts.get(n, 0) + 1
            return (n * 2 + plus, datetime.date(2026, 1, 1))

        @step(name="fetch", key=lambda connection, day: day, retention=datetime.timedelta(days=1))
        async def fetch(connection, day):
            return day

        @step
        def huge():
            return "x" * 1000

        keeps(), keeps_async(), unfit(), one_asset(), several(), none()

        @task
        def steps():
            found = [double(1), double(n=1), double(2), double(2, plus=1), asyncio.run(fetch(object(), "monday"))]
            return [found, counts, problem_of(huge), problem_of(lambda: double(object()))]

        steps()
"""


class Kept:
    """Answers as the control plane does: values as JSON text."""

    def __init__(self) -> None:
        self.values: dict = {}
        self.asked: list = []

    def answers(self) -> dict:
        return {
            f"{verb}_{kind}_state": self._answer(verb, kind)
            for verb in ("get", "set", "delete", "clear")
            for kind in ("task", "asset")
        }

    def _answer(self, verb: str, kind: str):
        def answer(key=None, value=None, **more):
            self.asked.append((verb, kind, key, more))
            of = self.values.setdefault((kind, more.get("name"), more.get("uri")), {})
            if verb == "get":
                return {"value": json.loads(of[key])} if key in of else None
            if verb == "set":
                if len(json.dumps(value)) > 500:
                    raise Refused("more than state_store.max_value_bytes allows", "too_large")
                of[key] = json.dumps(value)
            elif verb == "delete":
                of.pop(key, None)
            else:
                of.clear()
            return None

        return answer


class StateStores(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.agent.close()

    def run_task(self, task_id: str, kept: Kept | None = None, **job):
        attempt = self.agent.run(task_id, answers=(kept or Kept()).answers(), **job)
        self.assertEqual(attempt.result["state"], "success", attempt.result)
        return attempt

    def test_a_value_comes_back_as_it_was_kept_with_the_retention_that_was_asked_for(self) -> None:
        kept = Kept()
        attempt = self.run_task("keeps", kept)
        self.assertEqual(attempt.value(), ["none", {"id": [1, 2.5, None, True]}, True])
        written = [more for verb, _, _, more in kept.asked if verb == "set"]
        self.assertEqual(written, [{"never_expires": True}, {"expires_in": 60}, {}])
        self.assertEqual(sorted(kept.values["task", None, None]), ["job", "usual"])

    def test_coroutines_of_one_task_use_the_store_at_the_same_time(self) -> None:
        self.assertEqual(self.run_task("keeps_async").value(), [1, 7])

    def test_a_value_that_would_come_back_as_another_is_refused_and_the_message_says_what_to_do(self) -> None:
        found = self.run_task("unfit").value()
        self.assertEqual([each[:2] for each in found[:6]], [[True, False]] + [[True, True]] * 5)
        self.assertIn("delete the key instead", found[0][2])
        self.assertIn("a tuple as a list", found[1][2])
        self.assertIn("value.isoformat()", found[2][2])
        self.assertIn("keys must be text", found[3][2])
        self.assertIn("nan", found[5][2])
        self.assertIn("must be a timedelta", found[6][2])
        self.assertIn("must be text", found[7][2])
        self.assertEqual(found[8], [True, False, "more than state_store.max_value_bytes allows"])

    def test_an_asset_is_named_by_what_the_task_declares_and_needs_no_name_when_it_is_the_only_one(self) -> None:
        kept = Kept()
        self.assertEqual(self.run_task("one_asset", kept).value(), ["2026-01-01", 3])
        self.assertEqual(list(kept.values), [("asset", "orders", "s3://orders/")])
        several = Kept()
        found = self.run_task("several", several).value()
        self.assertIn("Task has 3 concrete inlets and outlets", found[0][2])
        self.assertIn("is not in this task's inlets or outlets", found[1][2])
        self.assertIn("Expected Asset", found[2][2])
        self.assertIn(("asset", "by_name", None), several.values)

    def test_a_task_without_assets_has_no_asset_state_store(self) -> None:
        self.assertEqual(self.run_task("none").value(), ["absent", False, True])

    def test_a_later_try_continues_with_the_job_of_an_earlier_one_and_submits_only_when_it_has_failed(self) -> None:
        kept = Kept()
        first = self.run_task("submits", kept)
        self.assertEqual([first.value(), "submitted" in first.text()], [{"job": 1}, True])
        for status, submitted, polled in (("RUNNING", False, True), ("DONE", False, False), ("FAILED", True, True)):
            with self.subTest(status):
                again = self.run_task("submits", kept, run={"conf": {"status": status}})
                said = again.text()
                self.assertEqual(
                    [again.value(), "submitted" in said, "polled" in said], [{"job": 1}, submitted, polled]
                )
        never = Kept()
        self.run_task("starts_over", never)
        self.assertEqual(never.asked, [])

    def test_a_step_is_computed_once_for_its_arguments_and_not_again_in_the_next_try(self) -> None:
        kept = Kept()
        first = self.run_task("steps", kept).value()
        again = self.run_task("steps", kept, try_number=2)
        self.assertEqual(first[0], again.value()[0])
        self.assertEqual([first[1], again.value()[1]], [{"1": 1, "2": 2}, {}])
        self.assertIn("Step double: its result is that of try 1", again.text())
        self.assertIn("the result of step huge cannot be kept: more than", first[2][2])
        self.assertIn("Give it key=", first[3][2])
        self.assertIn({"expires_in": 86_400}, [more for verb, _, _, more in kept.asked if verb == "set"])


if __name__ == "__main__":
    unittest.main()
