/** The editor offers each task and each test at its own line. */
import { expect, it } from 'vitest';

// A script of the page, not of this program: it has no types.
const PAGE_SCRIPT = new URL('./editor/test-lines.js', import.meta.url).href;
type TaskLine = { line: number; dagId: string; taskId: string | null };
type TestLines = {
  taskLines(text: string, dags: { dagId: string; taskIds: string[] }[]): TaskLine[];
  testLines(text: string): { line: number; test: string | null }[];
  hasTests(path: string, paths: string[], project: string | null): boolean;
};
const { taskLines, testLines, hasTests } = (await import(PAGE_SCRIPT)) as TestLines;

const shown = (lines: TaskLine[]): string[] => lines.map(({ line, taskId }) => `${line} ${taskId}`);

it('finds tasks by their function and by their id, in groups, repeated, and with decorators over several lines', () => {
  const text = `from airflow.sdk import dag, task, task_group, DAG
@dag(schedule=None)
def sales():
    @task
    def extract(): ...

    @other
    @task.branch(
        task_id="choose",
        retries=2,
    )
    def _choose(): ...

    @task_group
    def inner():
        EmptyOperator(
            task_id="wait",
        )
    def helper(): ...
    for name in NAMES:
        BashOperator(task_id=f"run_{name}")
`;
  const taskIds = ['extract', 'extract__1', 'choose', 'inner.wait', 'run_a', 'helper'];
  expect(shown(taskLines(text, [{ dagId: 'sales', taskIds }]))).toEqual([
    '2 null',
    '4 extract',
    '4 extract__1',
    '8 choose',
    '17 inner.wait',
    '2 run_a',
    '2 helper',
  ]);
});

it('finds each of several DAGs at its own line', () => {
  const text = 'x = 1\nwith DAG("first") as a:\n    pass\nwith DAG(\n    dag_id="second",\n) as b:\n    pass\n';
  const found = taskLines(text, ['first', 'second'].map((dagId) => ({ dagId, taskIds: [] }))); // prettier-ignore
  expect(found.map(({ line, dagId }) => `${line} ${dagId}`)).toEqual(['2 first', '4 second']);
  expect(shown(taskLines('', [{ dagId: 'gone', taskIds: ['a'] }]))).toEqual(['1 null', '1 a']);
});

it('finds tests of functions and classes, and no functions within functions', () => {
  const text = `def helper(): ...
async def test_a(run_dag): ...
def make():
    def test_inner(): ...
class TestLoad:
    def test_b(self): ...
class Other:
    def test_c(self): ...
`;
  expect(testLines(text)).toEqual([
    { line: 1, test: null },
    { line: 2, test: 'test_a' },
    { line: 5, test: 'TestLoad' },
    { line: 6, test: 'TestLoad::test_b' },
  ]);
});

it('takes the nearest folder of tests', () => {
  const paths = ['a/dag.py', 'a/tests/test_dag.py', 'b/dag.py', 'b/tests/notes.md', 'tests/load_test.py'];
  expect(['a/dag.py', 'b/dag.py', 'c/d/dag.py', 'dag.py'].map((path) => hasTests(path, paths, null))).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(hasTests('dag.py', ['a/tests/test_dag.py'], null)).toBe(false);
  expect(hasTests('c/d/dag.py', paths, 'c')).toBe(false);
});
