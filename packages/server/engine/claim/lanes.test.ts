import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { laneOf } from '../shared/lanes.ts';
import type { Lanes, Routed } from '../shared/lanes.ts';
import { claim } from './claim.ts';

let engine: ScriptedScheduler;
let tenantId: string;
beforeAll(async () => {
  engine = await startScriptedScheduler({ capacity: 0 });
  tenantId = engine.tenant.id;
});
afterAll(() => engine?.close());

const ROUTING = { defaultExecutor: 'subprocess', remoteQueues: ['gpu'] };

function lanesWith(rooms: Record<string, number>): Lanes {
  const free = new Map(Object.entries(rooms));
  const roomOf = (task: Routed): number => free.get(laneOf(task, ROUTING)) ?? 0;
  return {
    ...ROUTING,
    open: Object.keys(rooms),
    suits: (task) => roomOf(task) > 0,
    take: (task) => void free.set(laneOf(task, ROUTING), roomOf(task) - 1),
  };
}

const claimed = async (rooms: Record<string, number>): Promise<string[]> => {
  const { attempts } = await claim(engine.db, createDagGraphs(), { capacity: 100, lanes: lanesWith(rooms) });
  return attempts.map(({ taskId }) => taskId).toSorted();
};

it('takes only what is in lanes with room, so that a full or unserved queue holds up nobody', async () => {
  await engine.run(graphOf({ local: [], gpu1: [], gpu2: [], remote: [], pod: [], queued: [] }));
  const set = (taskId: string, executor: string | null, queue: string) =>
    sql`update task_instances set executor = ${executor}, queue = ${queue}, priority_weight = ${queue === 'gpu' ? 99 : 1}
      where tenant_id = ${tenantId} and task_id = ${taskId}`.execute(engine.db.shared);
  await set('gpu1', null, 'gpu');
  await set('gpu2', null, 'gpu');
  await set('remote', 'remote', 'big');
  await set('pod', 'orchestrator', 'default');
  await set('queued', null, 'nightly'); // a queue that means nothing here: the default executor takes it
  const other = '00000000-0000-4000-8000-000000000000';

  // Nobody of another tenant, and no executor that is not there, gets any of it.
  expect(await claimed({ [`remote/${other}/gpu`]: 5, [`remote/${tenantId}/small`]: 5 })).toEqual([]);
  expect(await claimed({ subprocess: 1, [`remote/${tenantId}/gpu`]: 1 })).toHaveLength(2);
  expect(await claimed({ subprocess: 5 })).toHaveLength(1);
  expect(await claimed({ [`remote/${tenantId}/gpu`]: 5, [`remote/${tenantId}/big`]: 5 })).toEqual(['gpu2', 'remote']);
  expect(await claimed({ orchestrator: 5 })).toEqual(['pod']);
});
