/** Runs generated DAG files on a control plane with real Python processes, many at once, and reads what happened. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { apiCaller, tokenOf } from '../server/api-caller.ts';
import type { Api } from '../server/api-caller.ts';
import { PROCESS_ADMIN, startServerProcess } from '../server/server-process.ts';
import { instanceName } from './outcome.ts';
import type { AssetEvent, Happened, Note, Outcome } from './outcome.ts';

const LOGICAL_DATE = '2024-01-01T00:00:00Z';
const RUN_ID = 'manual__2024-01-01T00:00:00+00:00';
const AT_ONCE = 4;
const JOBS = 2;
/** Nothing that is generated takes longer; what has not ended by then is stuck. */
const QUIET_MS = 20_000;

type Compiled = { dagId: string; upstream: Record<string, string[]>; early: string[] };
/** Rules that may be met before everything upstream has ended. `always` is met at the start of the run. */
const EARLY = new Set<string>(['always', 'one_success', 'one_failed', 'one_done']);

/** `folder` has the files; notes of tasks go to a folder inside. Runs any number of lots of files, one after the other. */
export async function startHere(input: { databaseUrl: string; python: string; folder: string }) {
  const { databaseUrl, python, folder } = input;
  const notes = join(folder, 'notes-here');
  mkdirSync(notes, { recursive: true });
  const server = await startServerProcess({
    settings: {
      'database.url': databaseUrl,
      'executor.type': 'subprocess',
      'logs.dir': join(folder, 'logs-here'),
      python,
    },
    env: { FUZZ_LOG: notes },
    logFile: join(folder, 'server.log'),
  });
  const compiler = createCompiler({ python, jobs: JOBS });
  const stop = async (): Promise<void> => {
    await compiler.close();
    await server.stop();
  };
  await server.untilReady();
  const api = apiCaller(
    server,
    await tokenOf(server.url, { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  );

  const compile = async (name: string): Promise<{ refused: string } | Compiled> => {
    const path = join(folder, name);
    const answer = await compiler.compile({ path, dagsFolder: folder });
    if (!answer.ok) return { refused: answer.error.message };
    const [dag] = answer.dags;
    if (!dag) return { refused: 'the file has no DAG' };
    await api('POST', `/dags/${dag.dag_id}/dagVersions`, { spec: dag.spec, fileloc: path });
    await api('PATCH', `/dags/${dag.dag_id}`, { is_paused: false });
    const upstream = dag.spec.tasks.map(({ task_id: id, upstream_task_ids: ids }): [string, string[]] => [
      id,
      [...ids],
    ]);
    return { dagId: dag.dag_id, upstream: Object.fromEntries(upstream), early: earlyTasks(dag.spec) };
  };
  /** By name of the file. */
  const run = async (names: readonly string[]): Promise<Map<string, Outcome>> => {
    const found = new Map<string, Outcome>();
    const dags = new Map<string, Compiled>();
    await eachAtOnce(names, async (name) => {
      const compiled = await compile(name);
      if ('refused' in compiled) return void found.set(name, compiled);
      const broken = await trigger(api, compiled.dagId);
      if (broken === undefined) dags.set(name, compiled);
      else found.set(name, { broken });
    });
    const dagIds = [...dags.values()].map(({ dagId }) => dagId);
    await untilSettled(databaseUrl, dagIds);
    const happened = await readAll({ databaseUrl, dagIds, notes });
    for (const [name, { dagId, upstream, early }] of dags) {
      const one = happened.get(dagId);
      found.set(name, one ? { ...one, upstream, early } : { broken: 'there is no run' });
    }
    return found;
  };
  return { run, stop };
}

/** Tasks that may begin before all of their upstream instances have ended. */
function earlyTasks({ tasks, groups }: CompiledSpec): string[] {
  const mappedGroups = groups.flatMap(({ group_id: id, mapping }) => (mapping === null ? [] : [`${id}.`]));
  const manyInstances = new Set(
    tasks
      .filter(({ task_id: id, mapping }) => mapping !== null || mappedGroups.some((group) => id.startsWith(group)))
      .map(({ task_id: id }) => id),
  );
  return tasks
    .filter(({ policy: { trigger_rule: rule }, upstream_task_ids: upstream }) => {
      if (rule === 'always') return upstream.length > 0;
      return EARLY.has(rule) && (upstream.length > 1 || upstream.some((id) => manyInstances.has(id)));
    })
    .map(({ task_id: id }) => id);
}

async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Answers with why it could not be. */
async function trigger(api: Api, dagId: string): Promise<string | undefined> {
  try {
    await api('POST', `/dags/${dagId}/dagRuns`, { logical_date: LOGICAL_DATE, dag_run_id: RUN_ID });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const listed = (dagIds: readonly string[]): string => dagIds.map((dagId) => `'${dagId}'`).join(', ');

/** Callbacks of runs come after their ends. Gives up when nothing has moved for long. */
async function untilSettled(databaseUrl: string, dagIds: readonly string[]): Promise<void> {
  if (dagIds.length === 0) return;
  let before = '';
  for (let since = Date.now(); Date.now() - since < QUIET_MS; await sleep(200)) {
    const [row] = await queryDatabase<{ live: string; moved: string }>(
      databaseUrl,
      `select (select count(*) from dag_runs where dag_id in (${listed(dagIds)}) and state in ('queued', 'running'))
            + (select count(*) from callback_requests where dag_id in (${listed(dagIds)})) as live,
          (select concat(count(*), max(updated_at)) from task_instances where dag_id in (${listed(dagIds)})) as moved`,
    );
    if (row?.live === '0') return;
    if (row?.moved !== before) since = Date.now();
    before = row?.moved ?? '';
  }
}

type Row = { dag_id: string; task_id: string; map_index: number };
const nameOf = ({ task_id: task, map_index: index }: Row): string => instanceName(task, index);

async function readAll(input: {
  databaseUrl: string;
  dagIds: readonly string[];
  notes: string;
}): Promise<Map<string, Happened>> {
  const { databaseUrl, dagIds, notes } = input;
  if (dagIds.length === 0) return new Map();
  const ofDags = `dag_id in (${listed(dagIds)})`;
  const read = <T>(text: string): Promise<(T & Row)[]> => queryDatabase(databaseUrl, text);
  const runs = await queryDatabase<{ dag_id: string; state: string }>(
    databaseUrl,
    `select dag_id, state from dag_runs where ${ofDags}`,
  );
  const found = new Map<string, Happened>(
    runs.map(({ dag_id: dagId, state }) => [
      dagId,
      {
        run: RUN_ID,
        state,
        upstream: {},
        early: [],
        instances: {},
        xcoms: [],
        rendered: {},
        events: [],
        notes: readNotes(notes, dagId),
      },
    ]),
  );
  for (const row of await read<{ state: string; tries: number; start: number; end: number; label: string | null }>(
    `select dag_id, task_id, map_index, state, try_number as tries, extract(epoch from start_date)::float8 as start,
      extract(epoch from end_date)::float8 as end, rendered_map_index as label from task_instances where ${ofDags}`,
  )) {
    const { state, tries, start, end, label } = row;
    const happened = found.get(row.dag_id);
    if (happened) happened.instances[nameOf(row)] = { state, tries, start, end, label };
  }
  for (const row of await read<{ key: string; value: string }>(
    `select dag_id, task_id, map_index, key, value from xcoms where ${ofDags} order by dag_id, task_id, map_index, key`,
  ))
    found.get(row.dag_id)?.xcoms.push([nameOf(row), row.key, withoutSpaces(row.value)]);
  for (const row of await read<{ fields: string }>(
    `select r.dag_id, f.task_id, f.map_index, f.fields from rendered_fields f
      join dag_runs r on r.tenant_id = f.tenant_id and r.id = f.run where r.${ofDags}`,
  )) {
    const happened = found.get(row.dag_id);
    if (happened) happened.rendered[nameOf(row)] = JSON.parse(row.fields);
  }
  for (const row of await read<AssetEvent & { dag: string }>(
    `select e.source_dag_id as dag, a.name as asset, a.uri, e.source_task_id as task, e.source_map_index as index, e.extra
      from asset_events e join assets a on a.tenant_id = e.tenant_id and a.id = e.asset_id
      where e.source_${ofDags}`,
  )) {
    const { asset, uri, task, index, extra } = row;
    found.get(row.dag)?.events.push({ asset, uri, task, index, extra });
  }
  return found;
}

const withoutSpaces = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? part : ''));

function readNotes(folder: string, dagId: string): Note[] {
  const path = join(folder, `${dagId}.jsonl`);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Note);
}
