/**
 * No single request may hold up everybody else. Every operation of the API, with as much as it accepts: the longest turn of the
 * event loop is measured in processor time, against what the same machine takes to read and write a MiB of JSON.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calibrate, watchHeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import type { HeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import { startOutsideClient } from '@svc/testing/event-loop/outside-client.ts';
import type { OutsideClient, OutsideRequest } from '@svc/testing/event-loop/outside-client.ts';
import { readApi, requestFor } from '@svc/testing/server/api-operations.ts';
import type { Api, Operation } from '@svc/testing/server/api-operations.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import type { TenantContents } from '@svc/testing/server/tenant-contents.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';

const MIB = 1024 * 1024;
const TASKS = 2_000;

let server: TestServer;
let client: OutsideClient;
let turns: HeldTurns;
let token: string;
let api: Api;
let contents: TenantContents;
/** Milliseconds of processor time that one turn may take here. */
let limit: number;

beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  contents = await fillTenant(server, token, 'a');
  api = await readApi(server);
  client = startOutsideClient();
  await registerLargeDag();
  turns = watchHeldTurns();
  limit = Math.max(50, 6 * calibrate());
}, 120_000);

afterAll(async () => {
  turns?.stop();
  await client?.close();
  await server?.close();
});

const largeSpec = (count = TASKS) => {
  const tasks = Array.from({ length: count }, (_, n) =>
    makeTask(`t${n}`, { upstream: n === 0 ? [] : [`t${n - 1}`], downstream: n === count - 1 ? [] : [`t${n + 1}`] }),
  );
  return makeSpec({ dagId: 'large', tasks });
};

async function registerLargeDag(): Promise<void> {
  const options = { method: 'POST', token, body: { spec: largeSpec() } };
  const answer = await server.call('/api/v2/dags/large/dagVersions', options);
  if (answer.status !== 201) throw new Error(answer.text);
  await server.call('/api/v2/dags/large', { method: 'PATCH', token, body: { is_paused: false } });
  await server.call('/api/v2/dags/large/dagRuns', { method: 'POST', token, body: { dag_run_id: 'one' } });
}

/** How long the longest turn was while this was answered. The first time compiles schemas and code, and does not count. */
async function heldBy(request: Omit<OutsideRequest, 'headers'>): Promise<{ ms: number; status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const asked = { ...request, url: `${server.url}${request.url}`, headers };
  let best = { ms: Infinity, status: 0, text: '' };
  for (let time = 0; time < 3; time += 1) {
    turns.longest();
    const { status, text } = await client.ask(asked);
    const ms = turns.longest();
    if (ms < best.ms) best = { ms, status, text };
    if (ms < limit) break;
  }
  return best;
}

/** Long streams, and what ends the session that the test uses. */
const LEFT_OUT = new Set(['logout', 'wait_dag_run_until_finished']);

const operationsWith = (keep: (operation: Operation) => boolean): Operation[] =>
  api.operations.filter((operation) => !LEFT_OUT.has(operation.id) && keep(operation));

/** Everything that was too slow at once, so that a run tells all. */
const tooSlow: string[] = [];
const note = (what: string, held: { ms: number; status: number; text: string }): void => {
  if (held.ms > limit) tooSlow.push(`${what}: ${held.ms.toFixed(0)} ms (${held.status} ${held.text.slice(0, 80)})`);
  if (process.env['SVC_SHOW_TURNS']) console.log(held.ms.toFixed(1).padStart(8), held.status, what);
};

describe('one request holds up nobody', () => {
  it('with a body as large as it may be, of as many values as fit', async () => {
    tooSlow.length = 0;
    const repeated = '[],{"a":1},1.50,[[]],"",';
    for (const operation of operationsWith(({ body }) => body !== undefined)) {
      const size = operation.id === 'post_dag_version' ? 16 * MIB : MIB;
      const times = Math.floor((size - 10) / repeated.length);
      const { path, method } = requestFor(api, operation, contents.values);
      const body = { before: '[', repeated, times, after: '0]' };
      note(`${operation.method} ${operation.path}`, await heldBy({ url: path, method, body }));
    }
    expect(tooSlow).toEqual([]);
  }, 240_000);

  it('that reads as much as one answer may have, of a DAG with thousands of tasks', async () => {
    tooSlow.length = 0;
    const large = {
      ...contents.values,
      dag_id: 'large',
      dag_run_id: 'one',
      run_id: 'one',
      task_id: 't1',
      limit: 1_000,
    };
    for (const operation of operationsWith(({ method }) => method === 'GET')) {
      const { path, method } = requestFor(api, operation, large);
      note(`GET ${operation.path}`, await heldBy({ url: path, method }));
    }
    expect(tooSlow).toEqual([]);
  }, 240_000);

  it('that registers a DAG of 16 MiB, plans a backfill over decades, or clears thousands of tasks', async () => {
    tooSlow.length = 0;
    const daily = {
      dag_id: contents.values['dag_id'],
      from_date: '1970-01-01T00:00:00Z',
      to_date: '2070-01-01T00:00:00Z',
    };
    const requests: [string, string, object][] = [
      ['POST', '/api/v2/dags/large/dagVersions', { spec: largeSpec(9_000) }],
      ['POST', '/api/v2/backfills/dry_run', daily],
      ['POST', '/api/v2/backfills', daily],
      ['POST', '/api/v2/dags/large/clearTaskInstances', { dry_run: true, dag_run_id: 'one', only_failed: false }],
      ['POST', '/api/v2/dags/large/clearTaskInstances', { dry_run: false, dag_run_id: 'one', only_failed: false }],
    ];
    for (const [method, url, body] of requests)
      note(`${method} ${url}`, await heldBy({ url, method, body: JSON.stringify(body) }));
    expect(tooSlow).toEqual([]);
  }, 240_000);
});
