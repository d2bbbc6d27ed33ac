/** Rows as the database would return them, for a run that is only in memory. */
import { randomUUID } from 'node:crypto';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { Blueprint } from '../plan/blueprint.ts';
import { decodeCounts } from '../plan/encode.ts';
import type { Instance } from '../plan/types.ts';
import type { DagGraph } from '../shared/dag-graphs.ts';
import type { NewInstance } from '../sql/instance-columns.ts';

export const TENANT = '00000000-0000-0000-0000-000000000000';
export const RUN = 1;

export type NewLocalRun = Pick<
  RunRow,
  'run_id' | 'run_type' | 'logical_date' | 'data_interval_start' | 'data_interval_end' | 'run_after' | 'conf'
>;

export const newInstanceRow = (instance: NewInstance, now: string): InstanceRow => ({
  ...instance,
  id: randomUUID(),
  infrastructure_retries: 0,
  attempt_id: null,
  given_by: null,
  skips: null,
  queued_at: null,
  duration: null,
  due_at: null,
  first_poke_at: null,
  heartbeat_at: null,
  hostname: '',
  note: null,
  note_user: null,
  rendered_map_index: null,
  pid: null,
  updated_at: now,
  usage: null,
  waiting_since: null,
});

export function newRunRow(spec: CompiledSpec, given: NewLocalRun, now: string): RunRow {
  return {
    ...given,
    tenant_id: TENANT,
    id: RUN,
    dag_id: spec.dag.dag_id,
    state: 'queued',
    queued_at: now,
    start_date: null,
    end_date: null,
    duration: null,
    triggered_by: 'test',
    triggering_user_name: null,
    note: null,
    note_user: null,
    version_number: 1,
    backfill_id: null,
    partition_key: null,
    partition_date: null,
    state_counts: {},
    timeout_at: null,
    created_at: now,
    tree: null,
  };
}

export const graphOf = (spec: CompiledSpec, blueprint: Blueprint): DagGraph => ({
  spec,
  blueprint,
  pools: [],
  pastMatters: false,
  isBound: false,
  hasStartTriggers: false,
});

export const instanceOf = (row: InstanceRow): Instance => ({
  taskId: row.task_id,
  mapIndex: row.map_index,
  state: row.state,
  upstream: decodeCounts(row.upstream),
  skips: row.skips === null ? null : (JSON.parse(row.skips) as string[]),
});
