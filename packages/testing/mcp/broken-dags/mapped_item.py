"""Forty files, one of them broken."""

from airflow.sdk import DAG, task

with DAG("mapped_item", schedule=None):

    @task
    def list_files() -> list[str]:
        return [f"part-{number:02}.json" if number != 17 else "part-17.json.tmp" for number in range(40)]

    @task
    def parse(name: str) -> int:
        print(f"parsing {name}")
        if not name.endswith(".json"):
            raise ValueError(f"{name} is not a finished file")
        return len(name)

    @task
    def merge(sizes) -> None:
        print(sum(sizes))

    merge(parse.expand(name=list_files()))
