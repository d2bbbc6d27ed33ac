/** Whoever calls sees what the control plane lets them see: no more through the tool server than without it. */
import type { Client } from '@modelcontextprotocol/client';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { createTokenSigner } from '@svc/server/auth/tokens.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, connectHttp, readText, startToolServer } from '@svc/testing/mcp/connect.ts';
import { startRecordingProxy } from '@svc/testing/mcp/recording-proxy.ts';

const TENANTS = ['north', 'south'] as const;
type Tenant = (typeof TENANTS)[number];

let server: TestServer;
let proxy: Awaited<ReturnType<typeof startRecordingProxy>>;
let tools: Awaited<ReturnType<typeof startToolServer>>;
beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false', 'auth.login-rate-limit-per-minute': '1000' });
  proxy = await startRecordingProxy(server.url);
  tools = await startToolServer(proxy.url);
  for (const tenant of TENANTS) {
    const { id } = await ensureTenant(server.db.shared, tenant);
    const db = server.db.tenant(id);
    // The same run of the same DAG in both, so that a mixed-up identity would not even be noticed by a missing id.
    for (const dagId of ['shared', `only_${tenant}`]) {
      await insertDag(db, { dagId, text: `marker-of-${tenant}` });
      const failed = { task_id: 'task', state: 'failed' as const, failure_reason: `exception: marker-of-${tenant}` };
      await insertRun(db, { dagId, runId: 'run', state: 'failed', note: `marker-of-${tenant}`, instances: [failed] });
    }
    for (const role of ['viewer', 'operator', 'editor', 'admin'] as const) {
      await server.addUser({ email: `${role}@${tenant}.example`, roles: [role], tenant });
    }
    await server.addUser({ email: `nobody@${tenant}.example`, roles: [], tenant });
  }
});
afterAll(async () => {
  await tools?.close();
  await proxy?.close();
  await server?.close();
});

const connect = async (email: string, tenant: Tenant): Promise<Client> =>
  connectHttp(tools.url, await server.login(email, tenant));
const other = (tenant: Tenant): Tenant => (tenant === 'north' ? 'south' : 'north');

const CALLS: readonly [string, Record<string, unknown>][] = [
  ['list_dags', {}],
  ['diagnose_run', { dag_id: 'shared', run_id: 'run' }],
  ['search_logs', { dag_id: 'shared', run_id: 'run', task_id: 'task', query: 'x' }],
];
const URIS = [
  'dag://list',
  'run://detail/shared/run',
  'task://instances/shared/run',
  'log://task/shared/run/task/1',
  'dag://source/shared',
  'dag://spec/shared',
] as const;

describe('a viewer of one tenant', () => {
  it('sees its own tenant through every tool and resource', async () => {
    const client = await connect('viewer@north.example', 'north');
    for (const [name, input] of CALLS) {
      expect([name, (await callTool(client, name, input)).isError]).toEqual([name, false]);
    }
    const texts = await Promise.all([...URIS, 'health://control-plane'].map((uri) => readText(client, uri)));
    expect(texts.join()).toContain('marker-of-north');
    expect(texts.join()).not.toContain('south');
    await client.close();
  });

  it('reaches nothing of another, not even whether it exists', async () => {
    const client = await connect('viewer@south.example', 'south');
    const foreign = [
      await callTool(client, 'diagnose_run', { dag_id: 'only_north', run_id: 'run' }),
      await callTool(client, 'diagnose_run', { dag_id: 'no_such_dag', run_id: 'run' }),
    ];
    const [theirs, none] = foreign.map(({ isError, text }) => [
      isError,
      text.replaceAll(/only_north|no_such_dag/g, 'ID'),
    ]);
    expect(theirs).toEqual(none);
    expect(theirs?.[0]).toBe(true);
    for (const uri of URIS.slice(1)) {
      const read = readText(client, uri.replace('shared', 'only_north'));
      await expect(read).rejects.toThrow(/not found/i);
    }
    expect(JSON.stringify(await callTool(client, 'list_dags', {}))).not.toContain('north');
    await client.close();
  });
});

it('a user without permissions is told which one is missing, by every tool and resource', async () => {
  const client = await connect('nobody@north.example', 'north');
  for (const [name, input] of CALLS) {
    const { isError, text } = await callTool(client, name, input);
    expect([isError, text]).toEqual([true, expect.stringMatching(/^not permitted: missing permission read:/)]);
  }
  for (const uri of URIS)
    await expect(readText(client, uri)).rejects.toThrow(/not permitted: missing permission read:/);
  expect(await readText(client, 'health://control-plane')).toContain('healthy'); // every user may
  await client.close();
});

it('an administrator reads no more here than a viewer: nothing that writes is reachable', async () => {
  const client = await connect('admin@north.example', 'north');
  proxy.passed.length = 0;
  for (const [name, input] of CALLS) await callTool(client, name, input);
  for (const uri of URIS) await readText(client, uri);
  const { tools: listed } = await client.listTools();
  for (const tool of listed) expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  for (const name of ['delete_dag', 'trigger_dag_run', 'clear_task', '__proto__', 'constructor']) {
    await expect(callTool(client, name, {})).rejects.toThrow(/not found|disabled/i);
  }
  expect(proxy.passed.length).toBeGreaterThan(10);
  expect(proxy.passed.filter(({ method, path }) => method !== 'GET' || !path.startsWith('/api/v2/'))).toEqual([]);
  expect(proxy.passed.map(({ path }) => path).join()).not.toMatch(/connections|variables|users|xcom|config/i);
  await client.close();
});

/** Refused with 401 before it can even connect, so it sends its calls bare. */
const stranger = (token = 'abc.def.ghi'): Pick<Client, 'callTool'> => ({
  callTool: async (params) => {
    const ask = async (): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${tools.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      });
      return { status: response.status, text: await response.text() };
    };
    let answer = await ask();
    // A control plane that is too busy to check the token says so, and gives nothing.
    while (answer.status === 200 && /try again in a few seconds/i.test(answer.text)) answer = await ask();
    expect(answer).toMatchObject({ status: 401 });
    return { content: [{ type: 'text', text: answer.text }], isError: true };
  },
});

it('hundreds of concurrent calls with mixed tokens never mix identities', async () => {
  const users = TENANTS.flatMap((tenant) =>
    ['viewer', 'operator', 'editor', 'admin', 'nobody'].map((role) => ({ tenant, role })),
  );
  const clients = await Promise.all(
    users.map(async ({ tenant, role }, index) => {
      const token = await server.login(`${role}@${tenant}.example`, tenant);
      const client = await connectHttp(tools.url, token, index % 2 === 0 ? 'auto' : 'legacy');
      return { tenant, role, client };
    }),
  );
  type Caller = { role: string; client: Pick<Client, 'callTool'>; expected: RegExp; forbidden: RegExp };
  const callers: Caller[] = clients.map(({ tenant, role, client }) => ({
    role,
    client,
    expected: role === 'nobody' ? /not permitted/ : new RegExp(tenant),
    forbidden: new RegExp(other(tenant)),
  }));
  callers.push({ role: 'stranger', client: stranger(), expected: /not authenticated/, forbidden: /north|south/ });
  const calls = Array.from({ length: 300 }, async (_, n) => {
    const { role, client, expected, forbidden } = callers[n % callers.length] as Caller;
    // A diagnosis takes nine requests: now and then one, so that long and short calls overlap.
    const [name, input] = CALLS[n % 20 === 0 ? 1 : 0] as (typeof CALLS)[number];
    const answer = JSON.stringify(await callTool(client, name, input));
    expect(answer).toMatch(expected);
    expect(answer).not.toMatch(forbidden);
    return role;
  });
  const roles = await Promise.all(calls);
  expect(new Set(roles)).toEqual(new Set(['viewer', 'operator', 'editor', 'admin', 'nobody', 'stranger']));
  for (const { client } of clients) await client.close();
}, 600_000);

it('a token that has expired is told from a wrong one, with how to get another', async () => {
  const signer = createTokenSigner(server.config.auth.jwt.secret);
  const claims = await signer.verifyUser(await server.login('viewer@north.example', 'north'));
  if (typeof claims === 'string') throw new Error(claims);
  const expired = await signer.signUser({ ...claims, expiresAt: Math.floor(Date.now() / 1_000) - 60 });
  const { text } = await callTool(stranger(expired), 'list_dags', {});
  expect(text).toContain('the token has expired');
  expect(text).toContain(`svc auth create-token --server ${proxy.url}`);
  await expect(connectHttp(tools.url, expired)).rejects.toThrow(/401|unauthorized/i);
});

it('a control plane that was restarted in between is simply asked again', async () => {
  const database = await createTestDatabase();
  const address = `127.0.0.1:${await freePort()}`;
  const flags = { 'scheduler.enabled': 'false', 'database.url': database.url, 'server.http-addr': address };
  const first = await startTestServer(flags);
  const itsTools = await startToolServer(first.url);
  const client = await connectHttp(itsTools.url, await first.login());
  expect((await callTool(client, 'list_dags', {})).isError).toBe(false);
  await first.close();
  const second = await startTestServer(flags);
  expect((await callTool(client, 'list_dags', {})).isError).toBe(false);
  await client.close();
  await itsTools.close();
  await second.close();
  await database.drop();
});
