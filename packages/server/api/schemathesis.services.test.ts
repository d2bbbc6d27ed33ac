/** The API against its own document, by requests that Schemathesis makes up from it: valid, invalid, and one after another. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { runSchemathesis } from '@svc/testing/schemathesis/run-schemathesis.ts';
import type { Ids } from '@svc/testing/schemathesis/run-schemathesis.ts';
import { SEED } from '@svc/testing/seed.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

/** More at night, and with other seeds by `npm run bench -- schemathesis`. */
const MAX_EXAMPLES = Number(process.env['SVC_SCHEMATHESIS_EXAMPLES'] ?? (IS_NIGHTLY ? 20 : 1));
const STATEFUL_EXAMPLES = Number(process.env['SVC_SCHEMATHESIS_SEQUENCES'] ?? (IS_NIGHTLY ? 300 : 15));

let server: TestServer;
let workspace: string;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'svc-schemathesis-workspace-'));
  await writeFile(join(workspace, 'first.py'), 'print("hello")\n');
  server = await startTestServer({ 'ui.workspace': workspace });
});
afterAll(async () => {
  await server?.close();
  await rm(workspace, { recursive: true, force: true });
});

it(
  'the API does what its document says, whatever is asked for and in whatever order',
  { timeout: 3_600_000 },
  async () => {
    const caller = await server.addUser({ email: 'caller@example.com', roles: ['admin'] });
    const token = await server.login('caller@example.com');
    const kept = await fillTenant(server, token, 'kept');
    const expendable = await fillTenant(server, token, 'expendable');
    const { users } = (await server.call('/api/v2/users', { token })).json<{
      users: { id: string; email: string }[];
    }>();
    const admin = users.find(({ email }) => email === ADMIN_EMAIL)?.id ?? '';
    const { passed, output } = await runSchemathesis({
      url: server.url,
      token,
      seed: SEED,
      maxExamples: MAX_EXAMPLES,
      statefulExamples: STATEFUL_EXAMPLES,
      ids: idsIn(kept.values),
      expendableIds: idsIn(expendable.values),
      protectedUserIds: [caller, admin],
    });
    expect(passed, output).toBe(true);
    // Otherwise much of it was only refused.
    expect((await server.call('/api/v2/users', { token })).status).toBe(200);
  },
);

const PATH_PARAMETERS = [
  'user_id',
  'connection_id',
  'variable_key',
  'pool_name',
  'dag_id',
  'dag_run_id',
  'run_id',
  'file_token',
  'task_id',
  'map_index',
  'try_number',
  'xcom_key',
  'version_number',
  'asset_id',
  'asset_alias_id',
  'backfill_id',
  'import_error_id',
  'event_log_id',
  'section',
  'option',
];

const idsIn = (values: Readonly<Record<string, unknown>>): Ids =>
  Object.fromEntries(PATH_PARAMETERS.map((name) => [name, [values[name] as string | number]]));
