/** Commands in the audit log of a control plane. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND_HEADER, encodeCommand } from '@svc/spec/announced-command.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { userName } from '../user-name.ts';

type Entry = { event: string; owner: string; dag_id: string | null; extra: string };

let server: TestServer;
let admin: string;
let viewer: string;
let directory: string;

beforeAll(async () => {
  server = await startTestServer();
  directory = mkdtempSync(join(tmpdir(), 'svc-command-'));
  admin = await server.login();
  const body = { email: 'grace@example.com', password: TEST_PASSWORD, roles: ['viewer'] };
  await server.call('/api/v2/users', { method: 'POST', token: admin, body });
  viewer = await server.login('grace@example.com');
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => server.db.shared.deleteFrom('audit_log').execute());

const svc = (argv: readonly string[], { token = admin, input = '' } = {}) =>
  runSvc(argv, { env: { XDG_CONFIG_HOME: directory, SVC_SERVER_URL: server.url, SVC_TOKEN: token }, input });

async function entries(): Promise<Entry[]> {
  const answer = await server.call('/api/v2/eventLogs?event_prefix_pattern=cli_&order_by=id', { token: admin });
  return answer.json<{ event_logs: Entry[] }>().event_logs;
}

it('each command is one entry, however many requests it makes, by the user whose token it has', async () => {
  const file = join(directory, 'variables.json');
  writeFileSync(file, JSON.stringify({ api_token: '***', region: 'north' }));
  await svc(['variables', 'import', file]); // a list, then a write
  await svc(['variables', 'set', 'region', 'south', '--description', "where it's from"]);
  await svc(['variables', 'list'], { token: viewer });
  await svc(['dags', 'pause', 'absent']);
  await svc(['backfill', 'create', 'absent', '--from', '2026-01-01', '--to', '2026-01-02', '--dry-run']);
  const found = await entries();
  expect(found.map(({ event, owner, dag_id: dagId }) => [event, owner, dagId])).toEqual([
    ['cli_variables_import', ADMIN_EMAIL, null],
    ['cli_variables_set', ADMIN_EMAIL, null],
    ['cli_variables_list', 'grace@example.com', null],
    ['cli_dag_pause', ADMIN_EMAIL, 'absent'],
    ['cli_create_backfill', ADMIN_EMAIL, 'absent'],
  ]);
  expect(JSON.parse(found[1]?.extra ?? '')).toMatchObject({
    host_name: hostname(),
    system_user: userName(),
    full_command: String.raw`['svc', 'variables', 'set', 'region', '***', '--description', 'where it\'s from']`,
  });
  expect(found[4]?.extra).toContain("'--dry-run'");
});

it('no way of giving a secret to a command brings it into the audit log', async () => {
  const secret = 'hunter2-and-more';
  const uri = `postgres://app:${secret}@db.example.com/app`;
  await svc(['connections', 'set', 'db', '--conn-type', 'postgres', '--password', secret, '--host', 'db.example.com']);
  await svc(['connections', 'set', 'db', `--password=${secret}`, `--extra={"key":"${secret}"}`]);
  await svc(['connections', 'set', `--uri=${uri}`, 'db']);
  await svc(['connections', 'set', 'db', '--description', `was ${uri}`]);
  await svc(['connections', 'set', 'db', '--password', '-'], { input: secret });
  await svc(['variables', 'set', 'region', secret]);
  await svc(['variables', 'list', '--token', admin]);
  await svc(['users', 'create', 'ada@example.com', '--password', secret]);
  await svc(['runs', 'trigger', 'absent', '--conf', `{"key":"${secret}"}`]);
  const found = await entries();
  expect(found).toHaveLength(9);
  const rows = await server.db.shared.selectFrom('audit_log').selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain(secret);
  expect(JSON.stringify(rows)).not.toContain(admin);
  expect(found[0]?.extra).toContain(`'--password', '***'`);
  expect(found[4]?.extra).toContain(`'--password', '-'`);
});

it('a command that is not authenticated or not permitted leaves no entry', async () => {
  expect((await svc(['variables', 'set', 'a', 'b'], { token: 'wrong' })).code).toBe(3);
  expect((await svc(['variables', 'set', 'a', 'b'], { token: viewer })).code).toBe(3);
  expect(await entries()).toEqual([]);
});

it('a header that claims to be somebody else, another event or nonsense says nothing about who did what', async () => {
  const claim = { event: 'cli_dag_delete', hostName: 'h', systemUser: ADMIN_EMAIL, fullCommand: 'token=abcdefgh' };
  const forged = [claim, { ...claim, event: 'delete_user' }].map(encodeCommand);
  for (const header of [...forged, 'nonsense', 'x'.repeat(9_000)]) {
    const headers = { [COMMAND_HEADER]: header };
    expect((await server.call('/api/v2/variables', { token: viewer, headers })).status).toBe(200);
  }
  const found = await entries();
  expect(found).toMatchObject([{ event: 'cli_dag_delete', owner: 'grace@example.com' }]);
  expect(found[0]?.extra).not.toContain('abcdefgh');
  const all = await server.db.shared.selectFrom('audit_log').select('event').execute();
  expect(all.map(({ event }) => event)).toEqual(['cli_dag_delete']);
});
