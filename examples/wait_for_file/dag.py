"""Waiting without wasting: three sensors, three ways to wait for something that happens outside.

`poke` keeps its worker while it waits (good for seconds), `reschedule` gives it back between two looks (good for
hours), and `soft_fail` turns waiting in vain into a skip.
"""

from airflow.sdk import DAG, PokeReturnValue, task
from airflow.providers.standard.sensors.filesystem import FileSensor

with DAG("wait_for_file", schedule=None, tags=["example", "sensors"], doc_md=__doc__):

    @task
    def make_letterbox() -> str:
        import tempfile

        return tempfile.mkdtemp(prefix="letterbox-")

    @task
    def write_letter(letterbox: str) -> None:
        """The outside world. It takes its time."""
        import time
        from pathlib import Path

        time.sleep(3)
        # Under another name first: a sensor must never find half a letter.
        draft = Path(letterbox) / "letter.draft"
        draft.write_text("Dear pipeline,\nthe data is ready.\nYours, the outside world\n")
        draft.rename(Path(letterbox) / "letter.txt")

    letterbox = make_letterbox()

    # An operator's templated fields may name what another task returned. That alone makes it wait for that task.
    letter_there = FileSensor(
        task_id="letter_there",
        filepath="{{ ti.xcom_pull(task_ids='make_letterbox') }}/letter.txt",
        poke_interval=1,
        timeout=60,
        mode="poke",
    )

    # A function can be a sensor too: it is called until it returns something true. A PokeReturnValue hands on a value.
    @task.sensor(poke_interval=1, timeout=60, mode="reschedule")
    def read_letter(letterbox: str) -> PokeReturnValue:
        from pathlib import Path

        letter = Path(letterbox) / "letter.txt"
        if not letter.exists():
            print("Nothing yet; giving the worker back until the next look")
            return PokeReturnValue(is_done=False)
        return PokeReturnValue(is_done=True, xcom_value=letter.read_text())

    # This one waits for a letter that nobody writes. After its timeout it is skipped, and the run goes on.
    love_letter = FileSensor(
        task_id="love_letter",
        filepath="{{ ti.xcom_pull(task_ids='make_letterbox') }}/love-letter.txt",
        poke_interval=1,
        timeout=2,
        soft_fail=True,
    )

    # "none_failed": skipped is fine as well.
    @task(trigger_rule="none_failed")
    def answer(letterbox: str, letter: str) -> int:
        import shutil

        print(letter)
        shutil.rmtree(letterbox)
        lines = len(letter.splitlines())
        print(f"Received {lines} lines. Dear outside world, thank you.")
        return lines

    write_letter(letterbox)
    letterbox >> [letter_there, love_letter]
    [letter_there, love_letter] >> answer(letterbox, read_letter(letterbox))
