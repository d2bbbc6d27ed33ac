// Runs a task, a DAG or tests from their lines, one at a time, and knows what came of each.
import { api } from './api.js';
/** @import { TestOrder, TestResult, WorkspaceTest } from '../browser.d.ts' */

const LOOK_EVERY_MS = 400;

/** @typedef {{ xcoms: Record<string, unknown>, conf: Record<string, unknown> }} Inputs */
/** @typedef {ReturnType<typeof createTests>} Tests */

/**
 * What an order runs, as one word: the same line has the same.
 * @param {TestOrder} order
 */
export const keyOf = (order) =>
  order.kind === 'run'
    ? JSON.stringify([order.kind, order.dag_id, order.task_id ?? null])
    : JSON.stringify([order.kind, order.path, order.test ?? null]);

/** @param {WorkspaceTest} test @returns {TestOrder} */
export const orderOf = ({ kind, path, dag_id: dagId, task_id: taskId, test }) =>
  kind === 'run' && dagId !== null
    ? { kind: 'run', path, dag_id: dagId, ...(taskId !== null && { task_id: taskId }) }
    : { kind: 'pytest', path, ...(test !== null && { test }) };

/** @param {TestOrder} order */
export function nameOf(order) {
  if (order.kind === 'run') return order.task_id ?? order.dag_id;
  return order.test ?? order.path;
}

/** `onChange` is called whenever there is something else to show. @param {{ onChange: () => void }} input */
export function createTests({ onChange }) {
  /** The latest one. @type {WorkspaceTest | undefined} */
  let latest;
  /** What came of each line, by what it runs. @type {Map<string, TestResult['state']>} */
  const states = new Map();
  /** What tasks returned in the latest tests, by DAG and task. @type {Map<string, Map<string, unknown>>} */
  const values = new Map();
  /** What a person gave in place of these values. @type {Map<string, Inputs>} */
  const given = new Map();

  /** @param {WorkspaceTest} test */
  function learn(test) {
    latest = test;
    if (test.state !== 'running') {
      states.set(keyOf(orderOf(test)), test.state);
      if (test.kind === 'pytest') learnTests(test);
      else if (test.dag_id !== null) learnTasks(test, test.dag_id);
    }
    onChange();
  }

  /** @param {WorkspaceTest} test */
  function learnTests({ results }) {
    /** @type {Set<string>} */
    const fresh = new Set();
    for (const { name, state } of results) {
      // Of a test with parameters, the last failure counts.
      const [path = '', ...parts] = name.replace(/\[.*$/s, '').split('::');
      const key = JSON.stringify(['pytest', path, parts.join('::')]);
      if (parts.length > 0 && (state === 'failed' || !fresh.has(key))) states.set(key, state);
      fresh.add(key);
    }
  }

  /** @type {(test: WorkspaceTest, dagId: string) => void} */
  function learnTasks({ results, task_id: only }, dagId) {
    const known = values.get(dagId) ?? new Map();
    values.set(dagId, known);
    /** @type {Map<string, TestResult[]>} */
    const byTask = new Map();
    for (const result of results) {
      const id = result.name.replace(/\[\d+\]$/, '');
      byTask.set(id, [...(byTask.get(id) ?? []), result]);
    }
    for (const [id, instances] of byTask) {
      const worst = instances.find(({ state }) => state !== 'success') ?? instances[0];
      if (only === null) states.set(JSON.stringify(['run', dagId, id]), worst?.state ?? null);
      const returned = instances.map(({ xcoms }) => xcoms.find(({ key }) => key === 'return_value'));
      known.delete(id);
      if (worst?.state !== 'success' || returned.some((one) => one === undefined || one.is_cut)) continue;
      const parsed = returned.map((one) => JSON.parse(one?.json ?? 'null'));
      known.set(id, instances[0]?.name === id ? parsed[0] : parsed);
    }
  }

  /** @param {string} id */
  async function follow(id) {
    while (latest?.test_id === id && latest.state === 'running') {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      const before = latest;
      if (before.test_id !== id) return;
      const seen = await api.test(before.log.length).catch((/** @type {unknown} */ error) => error);
      if (seen instanceof Error || latest !== before) continue;
      const { test } = /** @type {{ test: WorkspaceTest | null }} */ (seen);
      if (test === null)
        learn({ ...before, state: 'failed', problem: 'lite was started again, which has ended this test' });
      else learn(test.test_id === id ? { ...test, log: before.log + test.log } : test);
    }
  }

  /** The values that a task gets. @type {(dagId: string, taskId: string | undefined, taskIds: readonly string[]) => Inputs} */
  function inputsOf(dagId, taskId, taskIds) {
    const own = given.get(JSON.stringify([dagId, taskId]));
    if (own) return own;
    if (taskId === undefined) return { xcoms: {}, conf: {} };
    const known = [...(values.get(dagId) ?? [])].filter(([id]) => id !== taskId && taskIds.includes(id));
    return { xcoms: Object.fromEntries(known), conf: {} };
  }

  return {
    latest: () => latest,
    /** @param {TestOrder} order */
    stateOf: (order) =>
      latest?.state === 'running' && keyOf(orderOf(latest)) === keyOf(order) ? 'running' : states.get(keyOf(order)),
    inputsOf,
    /** @type {(dagId: string, taskId: string | undefined, inputs: Inputs) => void} */
    give: (dagId, taskId, inputs) => void given.set(JSON.stringify([dagId, taskId]), inputs),
    /** @param {TestOrder} order */
    async start(order) {
      const test = await api.startTest(order);
      learn(test);
      void follow(test.test_id);
    },
    async stop() {
      await api.stopTest();
    },
    /** One that runs since before the page was loaded. */
    async resume() {
      const { test } = await api.test(0);
      if (test?.state !== 'running') return;
      learn(test);
      void follow(test.test_id);
    },
  };
}
