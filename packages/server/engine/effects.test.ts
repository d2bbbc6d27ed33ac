/** What follows the ends of runs is looked for by DAG, not by run. */
import { expect, it } from 'vitest';
import { openDatabase } from '../db/database.ts';
import { noEffects } from './advance/run-effects.ts';
import type { RunEffects } from './advance/run-effects.ts';
import { createBackgroundTasks } from './background-tasks.ts';
import { createEffects } from './effects.ts';
import { createDagGraphs } from './shared/dag-graphs.ts';

const ended = (dagId: string, count: number): RunEffects => ({
  ...noEffects(),
  ended: Array.from({ length: count }, (_, run) => ({
    tenantId: 't',
    dagId,
    run,
    runId: `run_${run}`,
    state: 'success' as const,
  })),
});

function following() {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const background = createBackgroundTasks({ error: (details) => expect.unreachable(JSON.stringify(details)) });
  const applyEffects = createEffects({
    db: openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', maxOpenConns: 1, maxIdleConns: 0, statementTimeoutMs: 0, idleInTransactionTimeoutMs: 0 }), // prettier-ignore
    graphs: createDagGraphs(),
    executor: null,
    stopElsewhere: () => {},
    background,
    startRunsOf: ({ dagId }) => {
      asked.push(dagId);
      return new Promise((resolve) => held.push(resolve));
    },
    dispatchCallbacks: async () => {},
    onTriggers: () => {},
    onAwaited: () => {},
    wakeAt: () => {},
    requestClaim: () => {},
  });
  const goOn = async (): Promise<void> => {
    held.splice(0).forEach((resolve) => resolve());
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { asked, applyEffects, goOn };
}

it('runs of a DAG that end together are followed once', async () => {
  const { asked, applyEffects, goOn } = following();
  applyEffects({ ...noEffects(), ended: [...ended('a', 50).ended, ...ended('b', 2).ended] });
  await goOn();
  expect(asked).toEqual(['a', 'b']);
});

it('those that end while others of the DAG are followed are followed after them, together', async () => {
  const { asked, applyEffects, goOn } = following();
  applyEffects(ended('a', 1));
  await goOn(); // it is being followed
  for (let time = 0; time < 10; time += 1) applyEffects(ended('a', 3));
  await goOn();
  expect(asked).toEqual(['a', 'a']);
  await goOn();
  expect(asked).toEqual(['a', 'a']);
  applyEffects(ended('a', 1));
  await goOn();
  expect(asked).toEqual(['a', 'a', 'a']);
});
