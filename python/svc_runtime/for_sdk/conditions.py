"""`airflow.sdk.definitions.decorators.condition`: `@task.run_if` and `@task.skip_if` as functions."""

from __future__ import annotations

from ..decorators.task import task

run_if = task.run_if
skip_if = task.skip_if
