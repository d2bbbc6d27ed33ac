"""The decorators that stand on the standard operators: `@task` and its flavours, `@setup`, `@teardown`, `@task_group`, `@asset`."""
