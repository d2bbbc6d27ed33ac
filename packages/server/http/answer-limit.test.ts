/** A list has a limit in rows; each of them may hold a MiB of an author's data. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
  const post = (path: string, body: object) => server.call(path, { method: 'POST', token, body });
  await post('/api/v2/dags/large/dagVersions', { spec: makeSpec({ dagId: 'large', tasks: [makeTask('t')] }) });
  for (let run = 0; run < 70; run += 1) await post('/api/v2/dags/large/dagRuns', { dag_run_id: `r${run}` });
  await sql`update dag_runs set conf = json_build_object('text', repeat('x', 1000000))`.execute(server.db.shared);
});
afterAll(() => server?.close());

it('a page of runs that would take the memory of the process is refused, and a shorter one is answered', async () => {
  const page = (limit: number) => server.call(`/api/v2/dags/large/dagRuns?limit=${limit}`, { token });
  const refused = await page(1_000);
  expect(refused.status).toBe(400);
  expect(refused.json()).toMatchObject({
    type: 'urn:svc:error:answer_too_large',
    detail: 'the answer would have more than 64 MiB: ask for fewer entries with limit',
  });
  const shorter = await page(10);
  expect(shorter.status).toBe(200);
  expect(shorter.json()).toMatchObject({ total_entries: 70 });
});
