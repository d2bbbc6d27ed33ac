/** Everything that the API knows about a try: what it ran, and with which inputs. */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { maskedIn } from './masked-values.ts';
import { readContext } from './recorded-context.ts';
import type { RecordedContext } from './recorded-context.ts';

export type RecordedValue = {
  task_id: string;
  key: string;
  /** What the task pushed; of a mapped task null. */
  value: unknown;
  /** Of a mapped task: the values by map index, of the instances that pushed one, and the number of instances. */
  instances: { values: Record<string, unknown>; count: number } | null;
};

export type RecordedTry = {
  run: DagRun;
  tryNumber: number;
  mapIndex: number;
  state: string | null;
  /** Why it failed, in words. */
  failure: string | null;
  versionNumber: number;
  spec: CompiledSpec;
  /** The DAG file of that version. */
  text: string;
  conf: Record<string, unknown>;
  context: RecordedContext;
  startedAt: string | null;
  /** Template fields after rendering. Null: another try has replaced them. */
  rendered: Readonly<Record<string, unknown>> | null;
  xcoms: RecordedValue[];
  /** Inputs that the caller may not read. */
  masked: string[];
  /** Inputs that may have been others at that time. */
  uncertain: string[];
  /** Values that the API describes instead, because they are too large for an answer. */
  described: string[];
};

export type NamedTry = { run: DagRun; taskId: string; mapIndex: number; tryNumber?: number };

const RETURN_KEY = 'return_value';
const PAGE = 1_000;
const REPLACED_PAGE = 100;

export async function readTry(client: Client, named: NamedTry): Promise<RecordedTry> {
  const { run, taskId, mapIndex } = named;
  const dagId = run.dag_id;
  const place = { dag_id: dagId, dag_run_id: run.dag_run_id, task_id: taskId };
  const { task_instances: tries } = await client.get(
    '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/tries',
    { path: place, query: { map_index: mapIndex } },
  );
  const found = named.tryNumber === undefined ? tries.at(-1) : tries.find((one) => one.try_number === named.tryNumber);
  if (!found) {
    throw new CliError(`${taskId} has no try ${named.tryNumber} in the run ${run.dag_run_id}`, {
      exitCode: EXIT.notFound,
      hint: `its tries are: ${tries.map((one) => one.try_number).join(', ')}`,
    });
  }
  const versionNumber = found.dag_version?.version_number ?? run.dag_versions.at(-1)?.version_number;
  if (versionNumber === undefined) throw new CliError(`the version of the run ${run.dag_run_id} is no longer kept`);
  const [spec, source] = await Promise.all([
    client.get('/api/v2/dags/{dag_id}/spec', { path: { dag_id: dagId }, query: { version_number: versionNumber } }),
    client.get('/api/v2/dagSources/{dag_id}', { path: { dag_id: dagId }, query: { version_number: versionNumber } }),
  ]);
  const compiled = spec as unknown as CompiledSpec;
  const conf = { ...run.conf };
  const [{ xcoms, later }, context, rendered] = await Promise.all([
    valuesBefore(client, run, compiled, taskId, found.end_date),
    readContext(client, { run, found, spec: compiled }),
    found === tries.at(-1) ? renderedFields(client, named) : null,
  ]);
  return {
    run,
    tryNumber: found.try_number,
    mapIndex,
    state: found.state,
    failure: failureText(found as TaskInstance),
    versionNumber,
    spec: compiled,
    text: source.content,
    conf,
    context,
    startedAt: found.start_date,
    rendered,
    xcoms,
    masked: [
      ...maskedIn(conf, 'conf'),
      ...maskedIn(context.asset_events, 'asset event'),
      ...xcoms.flatMap(({ task_id: id, key, value, instances }) =>
        maskedIn(instances?.values ?? value, `xcom ${nameOf(id, key)}`),
      ),
    ],
    uncertain: later,
    described: xcoms
      .filter(({ value, instances }) => [value, ...Object.values(instances?.values ?? {})].some(isDescription))
      .map(({ task_id: id, key }) => nameOf(id, key)),
  };
}

async function renderedFields(client: Client, { run, taskId, mapIndex }: NamedTry): Promise<RecordedTry['rendered']> {
  const path = { dag_id: run.dag_id, dag_run_id: run.dag_run_id, task_id: taskId };
  const { rendered_fields: fields } =
    mapIndex < 0
      ? await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}', { path })
      : await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}', {
          path: { ...path, map_index: mapIndex },
        });
  return fields as RecordedTry['rendered'];
}

/** Values of all tasks before this one. A mapped task has a list with one value for each instance. */
async function valuesBefore(
  client: Client,
  { dag_id: dagId, dag_run_id: runId }: DagRun,
  spec: CompiledSpec,
  taskId: string,
  endedAt: string | null,
): Promise<{ xcoms: RecordedValue[]; later: string[] }> {
  const before = tasksBefore(spec, taskId);
  if (before.size === 0) return { xcoms: [], later: [] };
  const entries = await client.list(
    '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries',
    'xcom_entries',
    { path: { dag_id: dagId, dag_run_id: runId, task_id: '~' }, query: { limit: PAGE } },
  );
  const replaced = await replacedValues(client, { dagId, runId, endedAt });
  const values = new Map<string, RecordedValue>();
  const later = new Set<string>();
  const put = ({ task_id: id, map_index: index, key }: Place, value: unknown): void => {
    const name = nameOf(id, key);
    if (index < 0) {
      values.set(name, { task_id: id, key, value, instances: null });
      return;
    }
    const known = values.get(name) ?? { task_id: id, key, value: null, instances: { values: {}, count: 0 } };
    if (known.instances) known.instances.values[index] = value;
    values.set(name, known);
  };
  for (const entry of entries) {
    const { task_id: id, key, map_index: index, timestamp } = entry;
    if (!before.has(id) || replaced.has(placeText(entry))) continue;
    const { value } = await client.get(
      '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries/{xcom_key}',
      { path: { dag_id: dagId, dag_run_id: runId, task_id: id, xcom_key: key }, query: { map_index: index } },
    );
    if (endedAt !== null && Date.parse(timestamp) > Date.parse(endedAt)) later.add(nameOf(id, key));
    put(entry, value);
  }
  for (const entry of replaced.values()) if (before.has(entry.task_id)) put(entry, parseExact(entry.value));
  for (const { task_id: id, instances } of values.values()) {
    if (!instances) continue;
    const indexes = Object.keys(instances.values).map((index) => Number(index) + 1);
    instances.count = Math.max(await countOf(client, { dagId, runId, taskId: id }), ...indexes);
  }
  return { xcoms: [...values.values()], later: [...later] };
}

type Place = { task_id: string; map_index: number; key: string };

const placeText = ({ task_id: id, map_index: index, key }: Place): string => JSON.stringify([id, index, key]);

/** Values that a clear has deleted since the end of the try, as the try could read them. */
async function replacedValues(
  client: Client,
  { dagId, runId, endedAt }: { dagId: string; runId: string; endedAt: string | null },
): Promise<Map<string, Place & { value: string }>> {
  if (endedAt === null) return new Map();
  const entries: (Place & { value: string; written_at: string; replaced_at: string })[] = [];
  for (;;) {
    const { replaced_xcom_entries: page, total_entries: total } = await client.get(
      '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/replacedXcomEntries',
      { path: { dag_id: dagId, dag_run_id: runId }, query: { limit: REPLACED_PAGE, offset: entries.length } },
    );
    entries.push(...page);
    if (page.length === 0 || entries.length >= total) break;
  }
  const end = Date.parse(endedAt);
  const valid = entries.filter((one) => Date.parse(one.written_at) <= end && Date.parse(one.replaced_at) > end);
  return new Map(valid.map((one) => [placeText(one), one]));
}

async function countOf(client: Client, { dagId, runId, taskId }: { dagId: string; runId: string; taskId: string }) {
  const { total_entries: total } = await client.get(
    '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/listMapped',
    { path: { dag_id: dagId, dag_run_id: runId, task_id: taskId }, query: { limit: 1 } },
  );
  return total ?? 0;
}

/** packages/server/xcom/stored/shown-text.ts writes these words. */
const NOT_SHOWN = /Not shown, because it has more than \d+ bytes\.$/;
const isDescription = (value: unknown): boolean => typeof value === 'string' && NOT_SHOWN.test(value);

const nameOf = (taskId: string, key: string): string => (key === RETURN_KEY ? taskId : `${taskId}:${key}`);

function tasksBefore(spec: CompiledSpec, taskId: string): Set<string> {
  const upstream = new Map(spec.tasks.map((task) => [task.task_id, task.upstream_task_ids]));
  const found = new Set<string>();
  const open = [...(upstream.get(taskId) ?? [])];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(upstream.get(id) ?? []));
  }
  return found;
}
