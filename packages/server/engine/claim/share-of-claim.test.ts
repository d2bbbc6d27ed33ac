/** Two schedulers claim one after the other, each with a free worker: neither takes everything. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { claim } from './claim.ts';

const EIGHT = graphOf(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`t${n}`, []])));

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler({ capacity: 0 });
});
afterAll(() => engine?.close());

it('tasks that are left for other schedulers, and that none of them takes, run here', async () => {
  const alone = await startScriptedScheduler({ othersFree: 1_000, goesOn: false });
  try {
    const runId = await alone.run(EIGHT);
    await alone.ended(runId);
    expect(alone.seen).toHaveLength(8);
  } finally {
    await alone.close();
  }
});

it('eight tasks do not all go to the scheduler that claims first while the worker of the other one is idle', async () => {
  await engine.run(EIGHT);
  const free = { first: 32, second: 32 };
  const graphs = createDagGraphs();
  const claimBy = async (own: keyof typeof free, other: keyof typeof free): Promise<number> => {
    const peers = { ownFree: () => free[own], othersFree: () => free[other] };
    const { attempts, left } = await claim(engine.db, graphs, { capacity: free[own], peers });
    free[own] -= attempts.length;
    expect(left > 0).toBe(attempts.length > 0 && free.first + free.second > 56);
    return attempts.length;
  };
  expect(await claimBy('first', 'second')).toBe(4);
  expect(await claimBy('second', 'first')).toBe(3);
  expect(await claimBy('first', 'second')).toBe(1);
  expect(free).toEqual({ first: 27, second: 29 });
});
