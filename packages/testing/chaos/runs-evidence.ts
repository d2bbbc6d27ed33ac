/** What is left of a chaos run when everything has ended: the tables, the transitions, the effect file and the logs. */
import { readFile } from 'node:fs/promises';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import type { Plant } from './runs-plant.ts';

export type Effect = {
  what: 'start' | 'end' | 'violation';
  attempt: string;
  dag: string;
  run: string;
  task: string;
  map: number;
  try: number;
  pid: number;
  text?: string;
};

export type RunEvidence = {
  id: string;
  dag_id: string;
  run_id: string;
  state: string;
  state_counts: Record<string, number>;
};

export type InstanceEvidence = {
  run: string;
  dag_id: string;
  run_id: string;
  task_id: string;
  map_index: number;
  state: string | null;
  try_number: number;
  attempt_id: string | null;
  tenant_id: string;
  failure_reason: string | null;
};

export type Transition = {
  run: string;
  task_id: string | null;
  map_index: number | null;
  was: string | null;
  became: string | null;
  attempt_id: string | null;
  try_number: number | null;
};

export type Evidence = {
  runs: RunEvidence[];
  instances: InstanceEvidence[];
  transitions: Transition[];
  effects: Effect[];
  /** JSON text by `run/task/map/key`. */
  values: Map<string, string>;
};

export async function gatherEvidence(plant: Plant): Promise<Evidence> {
  const ask = <Row>(text: string): Promise<Row[]> => queryDatabase<Row>(plant.databaseUrl, text);
  const values = await ask<{ key: string; value: string }>(
    `select concat_ws('/', run, task_id, map_index, key) as key, value from xcoms`,
  );
  return {
    runs: await ask<RunEvidence>('select id, dag_id, run_id, state, state_counts from dag_runs order by id'),
    instances: await ask<InstanceEvidence>(
      `select t.run, t.dag_id, r.run_id, t.task_id, t.map_index, t.state, t.try_number, t.attempt_id, t.tenant_id,
         t.failure_reason
       from task_instances t join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run`,
    ),
    transitions: await ask<Transition>('select * from chaos_transitions order by at'),
    effects: await readEffects(plant.effectsFile),
    values: new Map(values.map(({ key, value }) => [key, value])),
  };
}

export async function readEffects(file: string): Promise<Effect[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Effect);
}

/** The log of one try, as it is on disk. */
export function logReader(plant: Plant): (instance: InstanceEvidence, tryNumber: number) => Promise<string> {
  const store = createDiskLogStore({ dir: plant.logsDir });
  return async (instance, tryNumber) => {
    const logKey = {
      tenantId: instance.tenant_id,
      dagId: instance.dag_id,
      runId: instance.run_id,
      taskId: instance.task_id,
      mapIndex: instance.map_index,
      tryNumber,
    };
    const blocks: Buffer[] = [];
    for await (const block of store.read(logKey)) blocks.push(block);
    return Buffer.concat(blocks).toString('utf8');
  };
}
