/** The files that `svc init` writes. Tests ensure that every template compiles unchanged. */
import { dbtProjectFiles } from './dbt-template.ts';
import { testFiles } from './test-templates.ts';
import type { ProjectFiles, PythonTemplate, Template } from './template-names.ts';

export function projectFiles(template: Template, dagId: string): ProjectFiles {
  if (template === 'dbt') return dbtProjectFiles(dagId);
  return {
    'svc.yaml': projectFile(dagId),
    'dag.py': DAGS[template](dagId),
    '.gitignore': '__pycache__/\n*.pyc\n.venv/\n.env\nbuild/\n',
    ...testFiles(template, dagId),
  };
}

const projectFile = (
  dagId: string,
): string => `# How this DAG is built and run. Every key is optional; docs/svc-yaml.md has them all.
dag_id: ${JSON.stringify(dagId)}
# description: What it is for, in one line
# owner: data-platform
# tags: [sales]

# The image its tasks run in.
python_version: "3.11"
# dependencies:             # Python packages, in any form pip takes
#   - duckdb>=1.0
# connectors: [postgres]    # short names for provider packages
# system_packages: [curl]   # Debian packages
# registry:
#   url: registry.example.com/dags

# Settings of tasks; those of one task win over the defaults, and both over the DAG file.
# defaults:
#   retries: 2
#   retry_delay_seconds: 30
# tasks:
#   load:
#     execution_timeout_seconds: 900
#     resources: { cpu: 500m, memory: 1Gi }
`;

/** A DAG id has no quotes or backslashes, so it is safe in a Python string. */
const DAGS: Record<PythonTemplate, (dagId: string) => string> = {
  hello: (dagId) => `"""Two tasks, and one value handed from the first to the second."""

from airflow.sdk import dag, task


@dag(dag_id="${dagId}", schedule=None, tags=["example"], doc_md=__doc__)
def hello():
    @task
    def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    @task
    def shout(text: str) -> None:
        print(text.upper())

    shout(greet())


hello()
`,
  etl: (dagId) => `"""Extract, transform, load, once a day."""

from datetime import datetime, timedelta

from airflow.sdk import DAG, task

with DAG(
    "${dagId}",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    default_args={"retries": 2, "retry_delay": timedelta(seconds=30)},
    tags=["example"],
    doc_md=__doc__,
):

    @task
    def extract(ds: str | None = None) -> list[dict]:
        """Read the data of one day. Replace this with a query or a download."""
        return [{"day": ds, "product": "coffee", "amount": 12}, {"day": ds, "product": "tea", "amount": 7}]

    @task
    def transform(rows: list[dict]) -> dict:
        return {row["product"]: row["amount"] for row in rows}

    @task
    def load(totals: dict) -> None:
        for product, amount in totals.items():
            print(f"{product}: {amount}")

    load(transform(extract()))
`,
  empty: (dagId) => `from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("${dagId}", schedule=None):
    EmptyOperator(task_id="start")
`,
};
