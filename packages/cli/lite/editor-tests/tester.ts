/**
 * Tests from the editor. Each user has one, in memory:
 *
 *   start ──▶ running: packages ──▶ process ──▶ success, failed, skipped
 *   stop  ──▶ stopped, when the process has ended
 */
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { EnvironmentFailure } from '@svc/agent/environments.ts';
import type { Interpreters } from '@svc/compiler/compiler-pool.ts';
import type { UnitOutcome } from '@svc/compiler/sync-workspace.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { WorkspaceTestRefused } from '@svc/server/workspace/tester.ts';
import type { WorkspaceTest, WorkspaceTestResult, WorkspaceTester } from '@svc/server/workspace/tester.ts';
import { CliError, messageOf } from '../../cli-error.ts';
import type { Environment } from '../../context.ts';
import type { LocalAnswer, LocalTask } from '../../local-runs/run-locally.ts';
import { planTest } from './test-plan.ts';
import type { TestPlan } from './test-plan.ts';
import { startTestProcess } from './test-process.ts';
import type { ProcessEnd, TestProcess } from './test-process.ts';

const MOST_AT_ONCE = 4;
const LONGEST_VALUE = 10_000;
/** What the package `svc-airflow[test]` requires. */
const PYTEST = ['pytest>=8', 'time-machine>=2.15'];

type PytestResult = {
  name: string;
  state: string;
  seconds: number;
  error: string | null;
  file: string | null;
  line: number | null;
};
type PytestAnswer = { missing: string[] } | { tests: PytestResult[]; is_complete: boolean };

type Entry = {
  test: WorkspaceTest;
  startedAt: number;
  stopping: PromiseWithResolvers<'stopped'>;
  isStopped: boolean;
  process?: TestProcess;
  done: Promise<void>;
};

export type LiteTester = WorkspaceTester & { close(): Promise<void> };

export function createWorkspaceTester(input: {
  workspace: string;
  env: Environment;
  user: TaskUser | undefined;
  interpreters: Pick<Interpreters, 'get'>;
  /** Undefined until the workspace has been read. */
  outcomes: () => readonly UnitOutcome[] | undefined;
  timeoutMs: number;
}): LiteTester {
  const { env, user, interpreters, outcomes, timeoutMs } = input;
  const workspace = resolve(input.workspace);
  const entries = new Map<string, Entry>();
  const running = (): Entry[] => [...entries.values()].filter(({ test }) => test.state === 'running');

  function refuseBusy(name: string): void {
    const own = entries.get(name)?.test;
    if (own?.state === 'running') {
      const what = own.order.kind === 'run' ? (own.order.taskId ?? own.order.dagId) : own.order.path;
      throw new WorkspaceTestRefused('busy', `your test of ${what} is running: wait for its end, or stop it`);
    }
    if (running().length >= MOST_AT_ONCE)
      throw new WorkspaceTestRefused('busy', `${MOST_AT_ONCE} tests of other users are running: try again later`);
  }

  async function execute(entry: Entry, plan: TestPlan): Promise<Partial<WorkspaceTest>> {
    const log = (text: string): void => {
      entry.test = { ...entry.test, log: entry.test.log + text };
    };
    const attempt = async (dependencies: readonly string[]): Promise<ProcessEnd> => {
      const python = await Promise.race([interpreters.get(dependencies), entry.stopping.promise]);
      if (entry.isStopped) return { answer: '', problem: 'it was stopped' };
      const { args, order, root: cwd } = plan;
      entry.process = startTestProcess({
        python,
        args,
        order,
        cwd,
        user,
        timeoutMs,
        env: { ...env, ...plan.env },
        onLog: log,
      });
      return entry.process.ended;
    };
    let end = await attempt(plan.dependencies);
    if (entry.test.order.kind === 'run') return ofRun(end, placeIn(workspace, plan.root));
    if (end.answer !== '' && 'missing' in (JSON.parse(end.answer) as PytestAnswer)) {
      log(`Installing ${PYTEST.join(' and ')}, because the packages of the DAG do not include them…\n`);
      end = await attempt([...plan.dependencies, ...PYTEST]);
    }
    return ofPytest(end, placeIn(workspace, plan.root));
  }

  async function follow(entry: Entry, plan: TestPlan): Promise<void> {
    const outcome = await execute(entry, plan).catch((error: unknown): Partial<WorkspaceTest> => {
      const isKnown = error instanceof EnvironmentFailure || error instanceof CliError;
      return { state: 'failed', problem: isKnown ? error.message : `the test could not run: ${messageOf(error)}` };
    });
    const seconds = (performance.now() - entry.startedAt) / 1_000;
    entry.test = { ...entry.test, ...outcome, seconds, ...(entry.isStopped && { state: 'stopped' }) };
  }

  return {
    async start(order) {
      refuseBusy(order.user);
      const known = outcomes();
      if (!known) throw new WorkspaceTestRefused('busy', 'the workspace is still being read: try again in a moment');
      const plan = planTest(order, { workspace, outcomes: known });
      const test: WorkspaceTest = {
        id: randomUUID(),
        order,
        state: 'running',
        problem: null,
        seconds: 0,
        log: '',
        results: [],
      };
      const entry: Entry = {
        test,
        startedAt: performance.now(),
        stopping: Promise.withResolvers(),
        isStopped: false,
        done: Promise.resolve(),
      };
      entries.set(order.user, entry);
      entry.done = follow(entry, plan);
      return test;
    },
    find(name) {
      const entry = entries.get(name);
      if (entry?.test.state !== 'running') return entry?.test;
      return { ...entry.test, seconds: (performance.now() - entry.startedAt) / 1_000 };
    },
    async stop(name) {
      const entry = entries.get(name);
      if (entry?.test.state !== 'running') return false;
      await stopEntry(entry);
      return true;
    },
    async close() {
      await Promise.all(running().map(stopEntry));
    },
  };
}

async function stopEntry(entry: Entry): Promise<void> {
  entry.isStopped = true;
  entry.stopping.resolve('stopped');
  entry.process?.stop();
  await entry.done;
}

type Place = (file: string, line: number) => Pick<WorkspaceTestResult, 'path' | 'line'>;

function placeIn(workspace: string, root: string): Place {
  const bases = [workspace, realpathSync(workspace)];
  return (file, line) => {
    const full = resolve(root, file);
    const base = bases.find((one) => full.startsWith(one + sep));
    return { path: base === undefined ? full : relative(base, full).replaceAll(sep, '/'), line };
  };
}

const NO_PLACE = { path: null, line: null };

function ofRun({ answer: text, problem }: ProcessEnd, place: Place): Partial<WorkspaceTest> {
  if (text === '') return { state: 'failed', problem };
  const answer = JSON.parse(text) as LocalAnswer;
  if ('problem' in answer) return { state: 'failed', problem: answer.problem };
  const { state, tasks } = answer.result;
  return {
    state: state === 'success' || state === 'skipped' ? state : 'failed',
    results: tasks.map((task) => taskResult(task, place)),
  };
}

function taskResult(task: LocalTask, place: Place): WorkspaceTestResult {
  const [, file = '', line = ''] = /^(.*):(\d+)$/.exec(task.line ?? '') ?? [];
  return {
    name: task.map_index < 0 ? task.task_id : `${task.task_id}[${task.map_index}]`,
    state: task.state,
    tries: task.tries,
    seconds: task.seconds,
    xcoms: Object.entries(task.xcoms).map(([key, value]) => {
      const json = JSON.stringify(value);
      return { key, json: json.slice(0, LONGEST_VALUE), isCut: json.length > LONGEST_VALUE };
    }),
    error: task.error,
    ...(file === '' ? NO_PLACE : place(file, Number(line))),
  };
}

function ofPytest({ answer: text, problem }: ProcessEnd, place: Place): Partial<WorkspaceTest> {
  if (text === '') return { state: 'failed', problem };
  const answer = JSON.parse(text) as PytestAnswer;
  if ('missing' in answer)
    return { state: 'failed', problem: `these packages are missing: ${answer.missing.join(', ')}` };
  const { tests, is_complete: isComplete } = answer;
  const results = tests.map(({ name, state, seconds, error, file, line }) => ({
    state,
    seconds,
    error,
    // Relative to the workspace, and not to the folder that pytest has run in.
    name: name.replace(/^[^:]+/, (path) => place(path, 1).path ?? path),
    tries: null,
    xcoms: [],
    ...(file === null || line === null ? NO_PLACE : place(file, line)),
  }));
  const isFailed = !isComplete || tests.some(({ state }) => state === 'failed');
  if (tests.length === 0) return { state: 'failed', problem: 'pytest has run no test; its output says why' };
  if (isFailed) return { state: 'failed', results };
  return { state: tests.every(({ state }) => state === 'skipped') ? 'skipped' : 'success', results };
}
