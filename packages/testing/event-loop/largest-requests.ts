/** Every operation of the API with as much as it accepts, made from its own document: one added later is among them. */
import { GROWTH } from '@svc/server/http/openapi/growth.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { readApi, requestFor } from '../server/api-operations.ts';
import type { Operation } from '../server/api-operations.ts';
import { fillTenant } from '../server/tenant-contents.ts';
import type { TestServer } from '../server/test-server.ts';
import { makeSpec, makeTask } from '../spec/make-spec.ts';
import type { OutsideRequest } from './outside-client.ts';

type Asked = Omit<OutsideRequest, 'headers'>;

export type LargestRequest = {
  kind: 'body' | 'answer' | 'work' | 'masked';
  name: string;
  /** An answer that has fewer characters is not the worst case that the operation declares. */
  atLeast?: number;
  /** Of whoever asks it, where that is not who was given. */
  token?: string;
  /** What works once only, once for each time it may be asked; then from the beginning. */
  requests: readonly [Asked, ...Asked[]];
};

const MIB = 1024 * 1024;
const TASKS = 2_000;
const TASKS_OF_16_MIB = 8_500;
/** The task that has all others as its upstream tasks. */
const LAST = 'last';
/** Characters of the shortest entry of a list: a name and its quotation marks. */
const SHORTEST_ENTRY = 10;
const LOG_MIB = 8;
/** How often one may be begun: once to warm up, and for each measurement. */
const BACKFILLS = 4;
/** Runs with a large conf in one list. */
const CONFS = 4;
/** As many values as fit, of every kind. */
const VALUES = '[],{"a":1},1.50,[[]],"",';
/** Long streams, and what ends the session that asks. */
const LEFT_OUT = new Set(['logout', 'wait_dag_run_until_finished']);

export async function largestRequests(server: TestServer, token: string): Promise<LargestRequest[]> {
  const { values } = await fillTenant(server, token, 'a');
  const api = await readApi(server);
  await registerLargeDag(server, token);
  await fillLog(server, token, values);
  const operations = api.operations.filter(({ id }) => !LEFT_OUT.has(id));
  const large = { ...values, dag_id: 'large', dag_run_id: 'one', run_id: 'one', task_id: LAST, limit: 1_000 };
  const bodies = operations
    .filter(({ body }) => body !== undefined)
    .map((operation): LargestRequest => {
      const size = operation.id === 'post_dag_version' ? 16 * MIB : MIB;
      const { path: url, method } = requestFor(api, operation, values);
      const times = Math.floor((size - 10) / VALUES.length);
      const body = { before: '[', repeated: VALUES, times, after: '0]' };
      return { kind: 'body', name: nameOf(operation), requests: [{ url, method, body }] };
    });
  const answers = operations
    .filter(({ method }) => method === 'GET')
    .map((operation): LargestRequest => {
      const { path: url, method } = requestFor(api, operation, large);
      const atLeast = isLargeHere(operation) ? TASKS * SHORTEST_ENTRY : 0;
      return { kind: 'answer', name: nameOf(operation), atLeast, requests: [{ url, method }] };
    });
  const pages = operations
    .filter(({ growsWith }) => growsWith === GROWTH.page)
    .map((operation): LargestRequest => {
      const { path: url, method } = requestFor(api, operation, large);
      const body = JSON.stringify({ page_limit: 1_000, dag_ids: ['large'] });
      return { kind: 'answer', name: nameOf(operation), requests: [{ url, method, body }] };
    });
  return [
    ...bodies,
    ...answers,
    ...pages,
    ...works(values),
    ...(await backfills(server, token)),
    ...(await maskedValues(server, token)),
  ];
}

/** The operations that the large DAG and its run are the worst case of. */
const isLargeHere = ({ growsWith, path }: Operation): boolean =>
  (growsWith === GROWTH.tasks || growsWith === GROWTH.instances) && !path.includes('{map_index}');

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;

function works(values: Readonly<Record<string, unknown>>): LargestRequest[] {
  const decades = { dag_id: values['dag_id'], from_date: '1970-01-01T00:00:00Z', to_date: '2070-01-01T00:00:00Z' };
  const clear = { dag_run_id: 'one', only_failed: false };
  const run = encodeURIComponent(String(values['dag_run_id']));
  const logs = `/api/v2/dags/${String(values['dag_id'])}/dagRuns/${run}/taskInstances/task/logs/1`;
  const requests: [name: string, method: string, url: string, body?: object][] = [
    ['register a DAG of 16 MiB', 'POST', '/api/v2/dags/large/dagVersions', { spec: largeSpec(TASKS_OF_16_MIB) }],
    ['plan a backfill of a century', 'POST', '/api/v2/backfills/dry_run', decades],
    ['begin a backfill of a century', 'POST', '/api/v2/backfills', decades],
    ['look at what clearing would clear', 'POST', '/api/v2/dags/large/clearTaskInstances', { ...clear, dry_run: true }],
    [
      'look at what clearing runs would clear',
      'POST',
      '/api/v2/dags/large/clearDagRuns',
      { dag_runs: [{ dag_run_id: 'one' }] },
    ],
    ['clear thousands of tasks', 'POST', '/api/v2/dags/large/clearTaskInstances', { ...clear, dry_run: false }],
    ['search a long log', 'GET', `${logs}?search=${'a'.repeat(1_000)}`],
    ['read a long log', 'GET', logs],
  ];
  return requests.map(([name, method, url, body]) => ({
    kind: 'work',
    name,
    requests: [{ method, url, ...(body && { body: JSON.stringify(body) }) }],
  }));
}

/** Almost as many runs as one backfill may have, by a schedule with clock changes. */
async function backfills(server: TestServer, token: string): Promise<LargestRequest[]> {
  const schedule = { type: 'cron_data_interval', expression: '30 2 * * *', timezone: 'Europe/Berlin' } as const;
  const dagIds = Array.from({ length: BACKFILLS }, (_, n) => `daily${n}`);
  for (const dagId of dagIds) {
    const spec = { ...makeSpec({ dagId, tasks: [makeTask('only')] }), schedule };
    await post(server, token, `/api/v2/dags/${dagId}/dagVersions`, { spec });
  }
  const asked = (url: string, more: object = {}) =>
    dagIds.map((dagId) => ({
      method: 'POST',
      url,
      body: JSON.stringify({
        dag_id: dagId,
        from_date: '1990-01-01T00:00:00Z',
        to_date: '2017-05-01T00:00:00Z',
        ...more,
      }),
    })) as [Asked, ...Asked[]];
  return [
    { kind: 'work', name: 'plan a backfill of ten thousand runs', requests: asked('/api/v2/backfills/dry_run') },
    { kind: 'work', name: 'begin a backfill of ten thousand runs', requests: asked('/api/v2/backfills') },
  ];
}

/** Values of tasks and of runs that are as large as they may be and hold secrets, for somebody who may not see those. */
async function maskedValues(server: TestServer, token: string): Promise<LargestRequest[]> {
  await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
  const viewer = await server.login('viewer@example.com');
  const secret = 'a-value-that-is-secret';
  await post(server, token, '/api/v2/variables', { key: 'api_token', value: secret });
  await post(server, token, '/api/v2/dags/values/dagVersions', {
    spec: makeSpec({ dagId: 'values', tasks: [makeTask('t')] }),
  });
  const runs = '/api/v2/dags/values/dagRuns';
  await post(server, token, runs, { dag_run_id: 'one' });
  const xcoms = `${runs}/one/taskInstances/t/xcomEntries`;
  const requests: [name: string, url: string][] = [];
  for (const [name, value] of Object.entries(largeValues(secret))) {
    await post(server, token, xcoms, { key: name, value });
    requests.push([`an XCom, ${name}`, `${xcoms}/${name}?stringify=true`]);
    await post(server, token, runs, { dag_run_id: name, conf: { value } });
    requests.push([`a conf, ${name}`, `${runs}/${name}`]);
  }
  // Callers of the API may not write classes, as tasks do.
  const classes = {
    __classname__: 'builtins.tuple',
    __version__: 1,
    __data__: Array<number>(Math.floor(MIB / 3)).fill(1),
  };
  await post(server, token, xcoms, { key: 'classes', value: 'later' });
  await server.db.shared
    .updateTable('xcoms')
    .set({ value: JSON.stringify(classes) })
    .where('key', '=', 'classes')
    .execute();
  requests.push(['an XCom, classes', `${xcoms}/classes?deserialize=true`]);
  for (let copy = 0; copy < CONFS; copy += 1)
    await post(server, token, runs, {
      dag_run_id: `copy-${copy}`,
      conf: { value: Array<number>(Math.floor(MIB / 5)).fill(1.5) },
    });
  requests.push(['all confs', runs]);
  return requests.map(([name, url]) => ({ kind: 'masked', name, token: viewer, requests: [{ method: 'GET', url }] }));
}

/** Each almost a MiB as JSON. */
function largeValues(secret: string): Record<string, unknown> {
  const size = MIB - 2_000;
  const repeat = (text: string): string => text.repeat((size - 100) / text.length);
  const items = <T>(item: T): T[] => Array<T>(Math.floor((size - 100) / (JSON.stringify(item).length + 1))).fill(item);
  return {
    numbers: [...items(1), secret],
    objects: items({ password: 'x', a: [1.5, 'b'] }),
    secrets: repeat(secret),
    escapes: repeat('%41') + secret,
    json: JSON.stringify([...items([]).slice(size / 6), { token: secret }]),
  };
}

async function post(server: TestServer, token: string, path: string, body: object): Promise<void> {
  const answer = await server.call(path, { method: 'POST', token, body });
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
}

function largeSpec(count: number): object {
  const ids = Array.from({ length: count - 1 }, (_, n) => `t${n}`);
  const chain = ids.map((id, n) =>
    makeTask(id, { upstream: ids.slice(Math.max(0, n - 1), n), downstream: [...ids.slice(n + 1, n + 2), LAST] }),
  );
  return makeSpec({ dagId: 'large', tasks: [...chain, makeTask(LAST, { upstream: ids })] });
}

async function registerLargeDag(server: TestServer, token: string): Promise<void> {
  await post(server, token, '/api/v2/dags/large/dagVersions', { spec: largeSpec(TASKS) });
  await server.call('/api/v2/dags/large', { method: 'PATCH', token, body: { is_paused: false } });
  await post(server, token, '/api/v2/dags/large/dagRuns', { dag_run_id: 'one' });
}

/** Short lines, and single records with as many lines as fit. */
async function fillLog(server: TestServer, token: string, values: Readonly<Record<string, unknown>>): Promise<void> {
  const { tenant_id: tenantId } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
    tenant_id: string;
  };
  const logKey = {
    tenantId,
    dagId: String(values['dag_id']),
    runId: String(values['dag_run_id']),
    taskId: String(values['task_id']),
    mapIndex: -1,
    tryNumber: 1,
  };
  const logs = createDiskLogStore({ dir: server.config.logs.dir });
  let offset = await logs.size(logKey);
  const short = `${JSON.stringify({ event: 'a line' })}\n`.repeat(MIB / 32);
  const long = `${JSON.stringify({ event: '\n'.repeat(MIB / 2 - 100) })}\n`;
  for (let part = 0; part < LOG_MIB; part += 1) {
    const bytes = Buffer.from(part % 2 === 0 ? short : long);
    await logs.append(logKey, offset, bytes);
    offset += bytes.length;
  }
  await logs.close();
}
