"""Hazard: the code of an author's own deadline reference runs with the wrong values, or its failure is silent."""

from __future__ import annotations

import textwrap
import unittest

from .run_agent import Agent

TEXT = textwrap.dedent(
    """
    import datetime
    from airflow.sdk import DAG, BaseDeadlineReference, DeadlineAlert, DeadlineReference, SyncCallback, deadline_reference

    def late(): ...

    @deadline_reference()
    class OfRun(BaseDeadlineReference):
        required_kwargs = {"dag_id", "run_id"}

        def _evaluate_with(self, *, session, dag_id, run_id):
            print("asked for", dag_id, run_id)
            return datetime.datetime(2026, 1, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))

    @deadline_reference()
    class NoDate(BaseDeadlineReference):
        def _evaluate_with(self, *, session):
            return None

    @deadline_reference()
    class WithDatabase(BaseDeadlineReference):
        def _evaluate_with(self, *, session):
            return session.scalar("select now()")

    HOUR = datetime.timedelta(hours=1)
    ALERTS = [DeadlineAlert(getattr(DeadlineReference, name), HOUR, SyncCallback(late)) for name in
              ("OfRun", "NoDate", "WithDatabase")]
    with DAG("d", schedule=None, deadline=ALERTS):
        pass
    """
)


class References(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def ask(self, position: int):
        answers: list[dict] = []
        attempt = self.agent.run(
            None,
            kind="callback",
            scope="run",
            which=f"reference:{position}",
            reason="a deadline counts from it",
            answers={"answer_deadline": lambda **answer: answers.append(answer)},
        )
        return attempt, answers

    def test_a_reference_is_given_what_it_requires_and_its_date_is_reported_in_utc(self) -> None:
        attempt, answers = self.ask(0)
        self.assertEqual(answers, [{"position": 0, "at": "2026-01-01T01:00:00+00:00"}])
        self.assertIn("asked for d manual__1", attempt.text())

    def test_a_reference_without_a_date_makes_no_deadline(self) -> None:
        self.assertEqual(self.ask(1)[1], [])

    def test_a_reference_that_uses_the_database_fails_and_says_what_to_use(self) -> None:
        attempt, answers = self.ask(2)
        self.assertEqual(answers, [])
        self.assertIn("session.scalar: the reference of a deadline has no database session", attempt.text())


if __name__ == "__main__":
    unittest.main()
