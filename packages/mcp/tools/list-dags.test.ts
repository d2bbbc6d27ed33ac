import type { Client } from '@modelcontextprotocol/client';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { z } from 'zod';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { insertRun } from '@svc/testing/engine/run-rows.ts';
import { callTool, connectHttp, readJson, startToolServer } from '@svc/testing/mcp/connect.ts';
import type { listDagsOutput } from './list-dags.ts';

let server: TestServer;
let tools: Awaited<ReturnType<typeof startToolServer>>;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  tools = await startToolServer(server.url);
  const token = await server.login();
  client = await connectHttp(tools.url, token);
  for (let n = 0; n < 30; n += 1) {
    const dagId = `dag_${String(n).padStart(2, '0')}`;
    const tags = n < 3 ? ['a b', 'nightly'] : [];
    const dag = { tags, description: 'Loads\u202E things\nfrom "there"', is_paused_upon_creation: n === 0 };
    const spec = makeSpec({ dagId, dag, tasks: [makeTask('t')] });
    await server.call(`/api/v2/dags/${dagId}/dagVersions`, { method: 'POST', token, body: { spec } });
  }
});
afterAll(async () => {
  await client?.close();
  await tools?.close();
  await server?.close();
});

const list = (input: Record<string, unknown>) => callTool<z.infer<typeof listDagsOutput>>(client, 'list_dags', input);

it('lists 25 unless told otherwise, with what one needs to go on, and says that there are more', async () => {
  const { structured, text } = await list({});
  expect([structured.dags.length, structured.total, structured.is_complete]).toEqual([25, 30, false]);
  expect(structured.dags[0]).toEqual({
    dag_id: 'dag_00',
    is_paused: true,
    schedule: null,
    next_run_after: null,
    tags: ['a b', 'nightly'],
    has_import_errors: false,
    newest_run: null,
    newest_failed_run: null,
    description: 'Loads things from "there"',
  });
  expect(text).toContain(
    '25 of 30 DAGs:\n- dag_00: paused, schedule null, tags ["a b","nightly"], never run\n- dag_01: active',
  );
  expect(text).toContain('5 more: raise limit (up to 200) or give a tag.');
  expect((await list({ limit: 200 })).structured).toMatchObject({ is_complete: true, total: 30 });
});

it('carries the newest run and the newest failed run of each, with ids and times, in one request', async () => {
  const db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  const at = (day: number) => ({ run_after: `2026-03-0${day}T00:00:00Z`, end_date: `2026-03-0${day}T01:00:00Z` });
  await insertRun(db, { dagId: 'dag_01', runId: 'bad', state: 'failed', ...at(1) });
  await insertRun(db, { dagId: 'dag_01', runId: 'good', state: 'success', ...at(2) });
  await insertRun(db, { dagId: 'dag_02', runId: 'bad', state: 'failed', ...at(1) });
  const { structured, text } = await list({ tag: 'nightly' });
  const failed = {
    run_id: 'bad',
    state: 'failed',
    run_after: '2026-03-01T00:00:00.000000Z',
    start_date: null,
    end_date: '2026-03-01T01:00:00.000000Z',
  };
  expect(structured.dags.slice(1).map((dag) => [dag.newest_run, dag.newest_failed_run])).toEqual([
    [expect.objectContaining({ run_id: 'good', state: 'success' }), failed],
    [failed, failed],
  ]);
  expect(text).toContain(
    '- dag_01: active, schedule null, tags ["a b","nightly"], newest run good (success 2026-03-02T01:00:00.000000Z), newest failed run bad (2026-03-01T01:00:00.000000Z)',
  );
  expect(text).toContain('newest run bad (failed 2026-03-01T01:00:00.000000Z)');
  const line = tools.logLines.at(-1) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ what: 'list_dags', requests: 1 });
  const listed = await readJson<z.infer<typeof listDagsOutput>>(client, 'dag://list');
  expect(listed.dags[2]).toMatchObject({ dag_id: 'dag_02', newest_failed_run: failed });
});

it('finds DAGs by tag', async () => {
  const { structured } = await list({ tag: 'a b' });
  expect(structured.dags.map((dag) => dag.dag_id)).toEqual(['dag_00', 'dag_01', 'dag_02']);
  expect((await list({ tag: 'none' })).text).toBe('There are no DAGs with the tag "none" that this user may see.');
});

it.each([
  [{ limit: 0 }, 'limit: must be a whole number from 1 to 200'],
  [{ limit: 201 }, 'limit: must be a whole number from 1 to 200'],
  [{ limit: null }, 'limit: must be a whole number from 1 to 200'],
  [{ tag: '' }, 'tag: must be a tag of 1 to 100 characters'],
])('%j is refused with what is allowed', async (input, message) => {
  const { isError, text } = await list(input);
  expect([isError, text]).toEqual([true, expect.stringContaining(message)]);
});
