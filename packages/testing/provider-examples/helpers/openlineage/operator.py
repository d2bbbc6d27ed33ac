"""What examples of Google's provider import of the tests of Airflow's repository, and which no package brings. No events are
collected, neither here nor where the examples are recorded: the task is there and succeeds."""

from airflow.sdk import BaseOperator


class OpenLineageTestOperator(BaseOperator):
    def __init__(self, *, event_templates=None, file_path=None, **kwargs):
        super().__init__(**kwargs)

    def execute(self, context): ...
