"""Shell commands as tasks: templates, environment, exit codes, and the last line as a value for others."""

from airflow.sdk import DAG, Param, task
from airflow.providers.standard.operators.bash import BashOperator

with DAG(
    "bash_tour",
    schedule=None,
    params={"words": Param("the quick brown fox jumps over the lazy dog the end", type="string", title="Some words")},
    tags=["example", "bash"],
    doc_md=__doc__,
):
    # The last line of the output is the value of the task.
    count = BashOperator(
        task_id="count_words",
        # Values of people go into the environment, never into the command: in there they could be a command themselves.
        env={"WORDS": "{{ params.words }}"},
        append_env=True,
        bash_command="""
            set -euo pipefail
            echo "counting in run {{ run_id }}, try {{ ti.try_number }}"
            echo "$WORDS" | tr ' ' '\\n' | sort | uniq -c | sort -rn
            echo "$WORDS" | wc -w
        """,
    )

    # Exit code 99 means "nothing to do": the task is skipped, not failed.
    lucky = BashOperator(
        task_id="only_if_many",
        bash_command='[ "{{ ti.xcom_pull(task_ids="count_words") | int }}" -gt 1000 ] || exit 99; echo "What a novel!"',
    )

    # The function returns the command, so it can be put together in Python.
    @task.bash
    def draw(total: str) -> str:
        return f"for i in $(seq {int(total)}); do printf '▇'; done; echo ' {int(total)} words'"

    # A pipe is only as good as its last command, unless bash is told otherwise.
    pipe = BashOperator(
        task_id="careful_pipe",
        bash_command="set -o pipefail; (false | cat) && echo 'nobody noticed' || echo 'noticed: the pipe failed'",
    )

    count >> lucky
    draw(count.output) >> pipe
