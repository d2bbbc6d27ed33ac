// What a new file begins with. The function has a name of its own: that of the file may be a word of Python's, or hide an import.

/**
 * The DAG a file will most likely be: a project is named like its folder, a plain file like itself.
 * @param {string} path
 */
function dagIdOf(path) {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  const stem = name.replace(/\.py$/, '');
  const named = (stem === 'dag' && parts.length > 0 ? parts.at(-1) : stem) || 'my_dag';
  return named.replaceAll(/[^\w.-]+/g, '_'); // what an id may have
}

/** @param {string} path */
const simple = (path) => `"""Says what this DAG is for."""

from airflow.sdk import dag, task


@dag(dag_id="${dagIdOf(path)}", schedule=None, tags=["new"], doc_md=__doc__)
def pipeline():
    @task
    def numbers() -> list[int]:
        return [1, 2, 3]

    @task
    def add(values: list[int]) -> int:
        total = sum(values)
        print(f"the total is {total}")
        return total

    add(numbers())


pipeline()
`;

/** @param {string} path */
const daily = (path) => `"""Runs every morning, one step after the other."""

from datetime import timedelta

import pendulum
from airflow.sdk import dag, task


@dag(
    dag_id="${dagIdOf(path)}",
    schedule="0 6 * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    default_args={"retries": 2, "retry_delay": timedelta(seconds=30)},
    tags=["new"],
    doc_md=__doc__,
)
def pipeline():
    @task
    def extract() -> list[dict]:
        return [{"city": "Bern", "degrees": 14}, {"city": "Rome", "degrees": 23}]

    @task
    def transform(rows: list[dict]) -> dict:
        return max(rows, key=lambda row: row["degrees"])

    @task
    def load(row: dict) -> None:
        print(f"warmest: {row['city']} with {row['degrees']} degrees")

    load(transform(extract()))


pipeline()
`;

/** @param {string} path */
const mapped = (path) => `"""One task for each thing there is, found out while it runs."""

from airflow.sdk import dag, task


@dag(dag_id="${dagIdOf(path)}", schedule=None, tags=["new"], doc_md=__doc__)
def pipeline():
    @task
    def find() -> list[str]:
        return ["apple", "pear", "plum"]

    @task
    def work(name: str) -> int:
        print(f"working on {name}")
        return len(name)

    @task
    def gather(lengths: list[int]) -> None:
        print(f"all together: {sum(lengths)}")

    gather(work.expand(name=find()))


pipeline()
`;

/** @type {{ id: string, name: string, content: (path: string) => string }[]} */
export const TEMPLATES = [
  { id: 'simple', name: 'DAG with two tasks', content: simple },
  { id: 'daily', name: 'DAG that runs daily', content: daily },
  { id: 'mapped', name: 'DAG that maps over a list', content: mapped },
  { id: 'empty', name: 'Empty file', content: () => '' },
];

/**
 * A template of Python is of no use in another file.
 * @param {string} path
 * @param {string} templateId
 */
export const contentFor = (path, templateId) =>
  path.endsWith('.py') ? (TEMPLATES.find(({ id }) => id === templateId)?.content(path) ?? '') : '';
