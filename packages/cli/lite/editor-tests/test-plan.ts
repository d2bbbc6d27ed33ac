/** What a test from the editor runs: the program with its arguments, its folder, and the packages that it needs. */
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { connectorPackages } from '@svc/spec/project/connectors.ts';
import type { UnitOutcome } from '@svc/compiler/sync-workspace.ts';
import { WorkspaceTestRefused } from '@svc/server/workspace/tester.ts';
import type { WorkspaceTestOrder } from '@svc/server/workspace/tester.ts';
import { describeDag } from '../../local-runs/find-dag.ts';
import type { Compiled } from '../../local-runs/find-dag.ts';
import { xcomAt } from '../../local-runs/given-values.ts';
import { PROGRAM } from '../../local-runs/run-locally.ts';
import type { LocalOrder } from '../../local-runs/run-locally.ts';

export type TestPlan = {
  args: readonly string[];
  /** The line that the program reads from the channel. */
  order: string | undefined;
  /** The working directory. Paths in results are relative to it. */
  root: string;
  env: Readonly<Record<string, string>>;
  dependencies: readonly string[];
};

const PYTEST_PROGRAM = 'svc_runtime.testing.run_tests';
const TESTS_FOLDER = 'tests';
const TEST_FILE = /^test_.*\.py$|_test\.py$/;
const MOST_TEST_FILES = 1_000;

export function planTest(
  order: WorkspaceTestOrder,
  { workspace, outcomes }: { workspace: string; outcomes: readonly UnitOutcome[] },
): TestPlan {
  const path = join(workspace, order.path);
  if (!existsSync(path) || !isWithin(realpathSync(workspace), realpathSync(path))) refuse(`there is no ${order.path}`);
  const units = outcomes.flatMap(({ unit }) => (unit.ok ? [unit] : []));
  return order.kind === 'run' ? planRun(order, { path, units }) : planPytest(order, { workspace, path, units });
}

function refuse(message: string): never {
  throw new WorkspaceTestRefused('invalid', message);
}

const isWithin = (folder: string, path: string): boolean => path.startsWith(folder + sep);
const fileOf = ({ unit, source }: Compiled): string => (unit.kind === 'project' ? join(unit.root, source) : unit.path);
/** True for the DAG file, and for every file of its project. */
const has = (unit: Compiled, path: string): boolean =>
  fileOf(unit) === path || (unit.unit.kind === 'project' && isWithin(unit.unit.root, path));

function planRun(
  { path: shown, dagId, taskId, conf, xcoms }: Extract<WorkspaceTestOrder, { kind: 'run' }>,
  { path, units }: { path: string; units: readonly Compiled[] },
): TestPlan {
  const unit = units.find((one) => has(one, path) && one.artifacts.some((artifact) => artifact.dagId === dagId));
  if (!unit)
    return refuse(`${shown} has no DAG ${dagId} that compiles: save the file, and repair what is marked in it`);
  const dag = describeDag(unit, dagId);
  if (taskId !== null && !dag.taskIds.includes(taskId)) {
    refuse(`${dagId} has no task ${taskId}: save the file. Its tasks are: ${dag.taskIds.join(', ')}`);
  }
  const order: LocalOrder = {
    path: dag.path,
    root: dag.root,
    bundle: dag.bundle,
    dag_id: dagId,
    task_id: taskId,
    map_index: null,
    conf,
    xcoms: Object.entries(xcoms).map(([place, value]) => xcomAt(place, value)),
    at: null,
    connections: null,
    variables: null,
    answers: {},
    asks: false,
    debugger: null,
    files: {},
    recorded: null,
  };
  return {
    args: ['-m', PROGRAM],
    order: JSON.stringify(order),
    root: dag.root,
    env: dag.env,
    dependencies: dag.dependencies,
  };
}

function planPytest(
  { path: shown, test }: Extract<WorkspaceTestOrder, { kind: 'pytest' }>,
  { workspace, path, units }: { workspace: string; path: string; units: readonly Compiled[] },
): TestPlan {
  const isTestFile = TEST_FILE.test(basename(path));
  const unit = units.find((one) => has(one, path));
  const tests = nearestTests(path, unit?.unit.kind === 'project' ? unit.unit.root : workspace);
  const files = isTestFile ? [path] : testsOfDagFile(path, { unit, tests });
  if (files.length === 0) {
    refuse(`${shown} has no tests: write files with names like test_dag.py into a folder ${TESTS_FOLDER} next to it`);
  }
  const root = tests === undefined || !isWithin(tests, files[0] ?? '') ? dirname(path) : dirname(tests);
  const names = files.map((file) => `.${sep}${relative(root, file)}${test === null ? '' : `::${test}`}`);
  const owner = unit ?? units.find((one) => one.project !== null && isWithin(one.unit.root, path));
  const { dependencies = [], connectors = [] } = owner?.project ?? {};
  return {
    args: ['-m', PYTEST_PROGRAM, JSON.stringify({ root, arguments: names })],
    order: undefined,
    root,
    env: owner?.unit.repository?.env ?? {},
    dependencies: [...dependencies, ...connectorPackages(connectors)],
  };
}

/** The folder of tests that the file is in, or the one next to it or to a folder above, up to the top. */
function nearestTests(path: string, top: string): string | undefined {
  for (let folder = dirname(path); folder === top || isWithin(top, folder); folder = dirname(folder)) {
    if (basename(folder) === TESTS_FOLDER && folder !== top) return folder;
    const next = join(folder, TESTS_FOLDER);
    if (existsSync(next)) return next;
  }
  return undefined;
}

/** All tests of a project. Of other files those that name the DAG or its file, or all if none does. */
function testsOfDagFile(
  path: string,
  { unit, tests }: { unit: Compiled | undefined; tests: string | undefined },
): string[] {
  if (tests === undefined) return [];
  const all = readdirSync(tests, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TEST_FILE.test(entry.name))
    .slice(0, MOST_TEST_FILES)
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  if (unit?.unit.kind === 'project' && isWithin(unit.unit.root, tests)) return all;
  const names = [basename(path, '.py'), ...(unit?.artifacts.map(({ dagId }) => dagId) ?? [])];
  const own = all.filter((file) => {
    const words = new Set(readFileSync(file, 'utf8').match(/[\w.-]+/g));
    return names.some((name) => words.has(name) || words.has(`${name}.py`));
  });
  return own.length > 0 ? own : all;
}
