/**
 * Whatever is cleared and marked, whenever: the run ends, its numbers are true, nothing is left without a state, and no try
 * runs twice. Random graphs, random ends of tasks, random interference while they run.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TRIGGER_RULE_NAMES } from '@svc/spec/trigger-rules.ts';
import { graphSpec } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { countRuns } from '../../db/dag-runs/filters.ts';
import { countInstances } from '../../db/task-instances/counts.ts';
import { clearRuns } from './clear-many.ts';
import { markRuns } from './mark-many.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

const RULES = TRIGGER_RULE_NAMES.filter((rule) => rule !== 'all_done_setup_success');

/** Task n comes after some of the tasks before it; some are mapped, over a list or over the value of one of those. */
const graphs = fc
  .array(
    fc.record({
      after: fc.array(fc.nat(), { maxLength: 2 }),
      rule: fc.oneof({ weight: 2, arbitrary: fc.constant('all_success' as const) }, fc.constantFrom(...RULES)),
      over: fc.constantFrom('nothing', 'nothing', 'list', 'value'),
      retries: fc.nat(1),
    }),
    { minLength: 2, maxLength: 6 },
  )
  .map((tasks): Graph['tasks'] =>
    Object.fromEntries(
      tasks.map((task, index) => {
        const after = [...new Set(index === 0 ? [] : task.after.map((number) => `t${number % index}`))];
        const [first] = after;
        const over = task.over === 'list' ? { over: 2 } : task.over === 'value' && first ? { over: first } : {};
        const policy = { trigger_rule: task.rule, retries: task.retries, retry_delay: 0 };
        return [`t${index}`, { after, policy, ...over }];
      }),
    ),
  );

const interferences = fc.array(
  fc.record({
    what: fc.constantFrom('clear', 'clear', 'success', 'failed', 'skipped'),
    task: fc.nat(5),
    upstream: fc.boolean(),
    downstream: fc.boolean(),
    onlyFailed: fc.boolean(),
    waitMs: fc.nat(25),
  }),
  { minLength: 1, maxLength: 4 },
);

const ends = fc.array(fc.constantFrom('success', 'success', 'failed', 'skipped'), { minLength: 1, maxLength: 8 });

let dags = 0;

it('a run comes to its end, with true numbers, however often parts of it are cleared and marked', async () => {
  const property = fc.asyncProperty(graphs, interferences, ends, async (tasks, edits, outcomes) => {
    const dagId = `random_${(dags += 1)}`;
    await engine.register(graphSpec({ dagId, tasks }));
    let finished = 0;
    const started: string[] = [];
    engine.setScript(async ({ taskId, mapIndex, tryNumber }) => {
      started.push(`${taskId}[${mapIndex}] ${tryNumber}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      const state = outcomes[(finished += 1) % outcomes.length] ?? 'success';
      const xcoms = [{ key: 'return_value', value: JSON.stringify(Array.from({ length: 1 + (finished % 3) })) }];
      return state === 'success' ? { state, xcoms } : { state: state as 'failed' | 'skipped' };
    });
    const run = await engine.trigger(dagId);
    const key = { id: run, runId: 'any' };
    const common = { tenantId: engine.tenant.id, dagId, runs: [key] };
    for (const edit of edits) {
      await new Promise((resolve) => setTimeout(resolve, edit.waitMs));
      const relatives = { includeUpstream: edit.upstream, includeDownstream: edit.downstream };
      const named = [{ taskId: `t${edit.task % Object.keys(tasks).length}` }];
      if (edit.what === 'clear') {
        const rest = { onlyFailed: edit.onlyFailed, resetRun: true, onLatestVersion: false, preventRunning: false };
        await clearRuns(engine.db, engine.scheduler, { ...common, options: { tasks: named, ...relatives, ...rest } });
      } else {
        const state = edit.what as 'success' | 'failed' | 'skipped';
        await markRuns(engine.db, engine.scheduler, { ...common, options: { tasks: named, ...relatives, state } });
      }
    }
    await expect
      .poll(() => engine.scheduler.tick().then(() => engine.runState(run)), { timeout: 120_000, interval: 20 })
      .toMatch(/success|failed/);
    await expectTruth(run);
    // The number of a try names its log and its place in the history: no two that ran may share one.
    expect(new Set(started).size).toBe(started.length);
  });
  await fc.assert(property, { numRuns: 40, endOnFailure: true });
}, 900_000);

async function expectTruth(run: number): Promise<void> {
  expect(engine.problems).toEqual([]);
  const counted: Record<string, number> = {};
  const states = Object.values(await engine.states(run));
  for (const state of states) counted[state ?? 'none'] = (counted[state ?? 'none'] ?? 0) + 1;
  const { state_counts: kept } = await engine.scope
    .selectFrom('dag_runs')
    .select('state_counts')
    .where('id', '=', run)
    .executeTakeFirstOrThrow();
  expect(kept).toEqual(counted);
  // Also in the sums over finished runs, which lists are counted by.
  const rows = await countInstances(engine.scope, { queues: ['default'] });
  expect(await countInstances(engine.scope, {})).toBe(rows);
  // So do those of runs, by state.
  for (const states of [undefined, ['success'], ['failed'], ['queued', 'running', 'failed']] as const) {
    const filter = states ? { states } : {};
    const counted = await countRuns(engine.scope, { ...filter, ranges: { run_after: { gt: '2000-01-01T00:00:00Z' } } });
    expect([states, await countRuns(engine.scope, filter)]).toEqual([states, counted]);
  }
  expect(states.every((state) => ['success', 'failed', 'skipped', 'upstream_failed'].includes(state ?? 'none'))).toBe(
    true,
  );
}
