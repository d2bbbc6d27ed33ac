/** Every operation of the API with as much as it accepts, made from its own document: one added later is among them. */
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { readApi, requestFor } from '../server/api-operations.ts';
import type { Operation } from '../server/api-operations.ts';
import { fillTenant } from '../server/tenant-contents.ts';
import type { TestServer } from '../server/test-server.ts';
import { makeSpec, makeTask } from '../spec/make-spec.ts';
import type { OutsideRequest } from './outside-client.ts';

export type LargestRequest = {
  kind: 'body' | 'answer' | 'work';
  name: string;
  request: Omit<OutsideRequest, 'headers'>;
};

const MIB = 1024 * 1024;
const TASKS = 2_000;
const TASKS_OF_16_MIB = 9_000;
const LOG_MIB = 8;
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
  const large = { ...values, dag_id: 'large', dag_run_id: 'one', run_id: 'one', task_id: 't1', limit: 1_000 };
  const bodies = operations
    .filter(({ body }) => body !== undefined)
    .map((operation): LargestRequest => {
      const size = operation.id === 'post_dag_version' ? 16 * MIB : MIB;
      const { path: url, method } = requestFor(api, operation, values);
      const times = Math.floor((size - 10) / VALUES.length);
      const body = { before: '[', repeated: VALUES, times, after: '0]' };
      return { kind: 'body', name: nameOf(operation), request: { url, method, body } };
    });
  const answers = operations
    .filter(({ method }) => method === 'GET')
    .map((operation): LargestRequest => {
      const { path: url, method } = requestFor(api, operation, large);
      return { kind: 'answer', name: nameOf(operation), request: { url, method } };
    });
  return [...bodies, ...answers, ...works(values)];
}

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
    ['clear thousands of tasks', 'POST', '/api/v2/dags/large/clearTaskInstances', { ...clear, dry_run: false }],
    ['search a long log', 'GET', `${logs}?search=${'a'.repeat(1_000)}`],
    ['read a long log', 'GET', logs],
  ];
  return requests.map(([name, method, url, body]) => ({
    kind: 'work',
    name,
    request: { method, url, ...(body && { body: JSON.stringify(body) }) },
  }));
}

function largeSpec(count: number): object {
  const tasks = Array.from({ length: count }, (_, n) =>
    makeTask(`t${n}`, { upstream: n === 0 ? [] : [`t${n - 1}`], downstream: n === count - 1 ? [] : [`t${n + 1}`] }),
  );
  return makeSpec({ dagId: 'large', tasks });
}

async function registerLargeDag(server: TestServer, token: string): Promise<void> {
  const post = async (path: string, method: string, body: object): Promise<void> => {
    const answer = await server.call(path, { method, token, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  };
  await post('/api/v2/dags/large/dagVersions', 'POST', { spec: largeSpec(TASKS) });
  await post('/api/v2/dags/large', 'PATCH', { is_paused: false });
  await post('/api/v2/dags/large/dagRuns', 'POST', { dag_run_id: 'one' });
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
