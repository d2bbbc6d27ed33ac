/** Converts bodies of Airflow's HTTP API, versions 1 and 2, to rows of a source. It is pure. */
import type {
  SourceConnection,
  SourceDag,
  SourcePool,
  SourceRun,
  SourceSecret,
  SourceTry,
  SourceUser,
  SourceVariable,
} from '@svc/server/db/imports/airflow/source-types.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Json } from './rest-client.ts';

const MASK = '***';

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.replaceAll('\u0000', '\ufffd').toWellFormed() : null;
const wordOf = (value: unknown): string => textOf(value) ?? '';
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const namesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : []).map((item) =>
    wordOf(typeof item === 'object' && item !== null ? (item as Json)['name'] : item),
  );

/** Normalises a moment to UTC with microseconds. */
function momentOf(value: unknown): string | null {
  const instant = typeof value === 'string' ? instantFromIso(value) : null;
  return instant === null
    ? null
    : instantToIso(instant).replace(
        /(?:\.(\d+))?(?:Z|\+00:00)$/,
        (_, digits: string | undefined) => `.${(digits ?? '').padEnd(6, '0')}Z`,
      );
}

/** A text with a mask may contain other masked parts, so one mask withholds the whole text. */
const secretOf = (text: string | null): SourceSecret =>
  text === null || text === ''
    ? { kind: 'none' }
    : text.includes(MASK)
      ? { kind: 'withheld' }
      : { kind: 'plain', text };

export const poolOf = (row: Json): SourcePool => ({
  name: wordOf(row['name']),
  slots: numberOf(row['slots']) ?? 0,
  description: textOf(row['description']),
  includeDeferred: row['include_deferred'] === true,
});

export function variableOf(row: Json): SourceVariable {
  const value = secretOf(textOf(row['value']));
  return {
    key: wordOf(row['key']),
    value: value.kind === 'none' ? { kind: 'plain', text: '' } : value,
    description: textOf(row['description']),
  };
}

export const connectionOf = (row: Json): SourceConnection => ({
  id: wordOf(row['connection_id']),
  type: wordOf(row['conn_type']),
  description: textOf(row['description']),
  host: textOf(row['host']),
  schema: textOf(row['schema']),
  login: textOf(row['login']),
  port: numberOf(row['port']),
  // The API does not reveal whether there is a password.
  password: { kind: 'withheld' },
  extra: secretOf(textOf(row['extra'])),
});

export const dagOf = (row: Json): SourceDag => ({
  id: wordOf(row['dag_id']),
  displayName: textOf(row['dag_display_name']) ?? wordOf(row['dag_id']),
  description: textOf(row['description']),
  fileloc: wordOf(row['fileloc']),
  relativeFileloc: textOf(row['relative_fileloc']),
  owners: namesOf(row['owners']),
  tags: namesOf(row['tags']),
  isPaused: row['is_paused'] === true,
  isActive: typeof row['is_stale'] === 'boolean' ? !row['is_stale'] : row['is_active'] !== false,
});

export const userOf = (row: Json): SourceUser => ({
  username: wordOf(row['username']),
  email: wordOf(row['email']),
  isActive: row['active'] !== false,
  roles: namesOf(row['roles']),
  hasPassword: false,
});

export const runOfJson = (row: Json, position: string): SourceRun => ({
  position,
  dagId: wordOf(row['dag_id']),
  runId: wordOf(row['dag_run_id']),
  runType: wordOf(row['run_type']),
  state: textOf(row['state']),
  logicalDate: momentOf(row['logical_date'] ?? row['execution_date']),
  dataIntervalStart: momentOf(row['data_interval_start']),
  dataIntervalEnd: momentOf(row['data_interval_end']),
  runAfter: momentOf(row['run_after']),
  queuedAt: momentOf(row['queued_at']),
  startDate: momentOf(row['start_date']),
  endDate: momentOf(row['end_date']),
  conf: JSON.stringify(row['conf'] ?? {}),
  triggeredBy: textOf(row['triggered_by']),
  triggeringUser: textOf(row['triggering_user_name']),
  note: textOf(row['note']),
  noteUser: null,
  partitionKey: textOf(row['partition_key']),
  instances: undefined,
});

export const tryOfJson = (row: Json, run: { dagId: string; runId: string }): SourceTry => ({
  dagId: run.dagId,
  runId: run.runId,
  taskId: wordOf(row['task_id']),
  mapIndex: numberOf(row['map_index']) ?? -1,
  state: textOf(row['state']),
  tryNumber: numberOf(row['try_number']) ?? 0,
  maxTries: numberOf(row['max_tries']) ?? 0,
  operator: textOf(row['operator']),
  operatorName: textOf(row['operator_name']),
  pool: textOf(row['pool']) ?? 'default_pool',
  poolSlots: numberOf(row['pool_slots']) ?? 1,
  priorityWeight: String(numberOf(row['priority_weight']) ?? 1),
  queue: textOf(row['queue']) ?? 'default',
  scheduledAt: momentOf(row['scheduled_when']),
  queuedAt: momentOf(row['queued_when']),
  startDate: momentOf(row['start_date']),
  endDate: momentOf(row['end_date']),
  hostname: wordOf(row['hostname']),
  pid: numberOf(row['pid']),
  renderedMapIndex: textOf(row['rendered_map_index']),
  note: textOf(row['note']),
  noteUser: null,
});
