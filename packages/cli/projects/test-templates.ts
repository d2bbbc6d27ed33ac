/** The tests of a new project, with what an editor and CI need to run them. docs/testing.md describes the tests. */
import type { ProjectFiles, PythonTemplate } from './template-names.ts';

export const testFiles = (template: PythonTemplate, dagId: string): ProjectFiles => ({
  'tests/test_dag.py': `${HEAD}${dagFixture(dagId)}${TESTS[template]}`,
  'requirements-dev.txt': REQUIREMENTS,
  'pytest.ini': '[pytest]\ntestpaths = tests\n',
  'pyrightconfig.json': PYRIGHT,
  '.vscode/settings.json': EDITOR,
  '.github/workflows/tests.yml': WORKFLOW,
});

const HEAD = `"""Tests of the DAG. They need no server: pip install -r requirements-dev.txt && pytest"""

from pathlib import Path

import pytest

from airflow.models import DagBag
`;

/** A DAG id has no quotes or backslashes, so it is safe in a Python string. */
const dagFixture = (dagId: string): string => `

@pytest.fixture(scope="session")
def dag():
    bag = DagBag(Path(__file__).parent.parent / "dag.py")
    assert bag.import_errors == {}
    return bag.get_dag("${dagId}")
`;

const TESTS: Record<PythonTemplate, string> = {
  hello: `

def test_the_greeting_is_shouted(dag, run_dag):
    run = run_dag(dag)
    assert run.succeeded
    assert "HELLO, WORLD!" in run.task("shout").log


def test_anybody_is_greeted(dag, run_task):
    assert run_task(dag.get_task("shout"), xcoms={"greet": "Hi, Ada"}).succeeded
`,
  etl: `

def test_a_day_is_loaded(dag, run_dag):
    run = run_dag(dag, at="2026-03-02")
    assert run.succeeded
    assert run.task("extract").xcom[0]["day"] == "2026-03-02"
    assert run.task("transform").xcom == {"coffee": 12, "tea": 7}


def test_a_day_without_sales_is_no_failure(dag, run_task):
    assert run_task(dag.get_task("transform"), xcoms={"extract": []}).xcom == {}
`,
  empty: `

def test_it_runs(dag, run_dag):
    assert run_dag(dag).succeeded
`,
};

const REQUIREMENTS = `# What the tests need. Add the dependencies of svc.yaml, too.
svc-airflow[test]
pyright
`;

const PYRIGHT = `{
  "typeCheckingMode": "standard",
  // \`a >> b\` is how tasks are ordered.
  "reportUnusedExpression": "none",
  "exclude": ["**/.venv", "**/__pycache__", "build"]
}
`;

const EDITOR = `{
  "python.testing.pytestEnabled": true,
  "python.testing.unittestEnabled": false
}
`;

const WORKFLOW = `name: tests
on: [push, pull_request]
jobs:
  tests:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install -r requirements-dev.txt
      - run: pytest
      - run: pyright
`;
