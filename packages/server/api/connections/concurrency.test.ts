/** Writers that meet: on one new id, on one row, and two bulk requests that want the same rows in opposite orders. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSecretKeys } from '../../config/secret-key.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { createKeyring } from '../../vault/keyring.ts';
import { loadConnectionSecrets, loadVariable } from '../../vault/load-secrets.ts';

let server: TestServer;
let token = '';
let tenantId = '';
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  tenantId = (await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow()).id;
});
afterAll(() => server?.close());

type Body = Record<string, unknown>;
const call = (method: string, path: string, body?: Body) =>
  server.call(`/api/v2${path}`, { method, token, ...(body && { body }) });
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

/** An action for each, so that the locks are taken one by one. */
const overwriteAll = (ids: readonly string[], host: string) => {
  const actions = ids.map((id) => ({
    action: 'create',
    entities: [{ connection_id: id, conn_type: 'x', host }],
    action_on_existence: 'overwrite',
  }));
  return call('PATCH', '/connections', { actions });
};

function source() {
  const { keys } = readSecretKeys(server.config);
  const keyring = createKeyring({ current: keys.current ?? null, previous: keys.previous });
  return { db: server.db.tenant(tenantId), keyring, tenantId };
}

describe('connections written at the same time', () => {
  it('twenty creates of one id at once all succeed, and no field that only one of them set is lost', async () => {
    const fields = ['description', 'host', 'login', 'schema', 'password'] as const;
    const answers = await Promise.all(
      numbers(20).map((n) => {
        const field = fields[n % fields.length] ?? 'host';
        return call('POST', '/connections', { connection_id: 'meet', conn_type: 'x', [field]: `v-${field}` });
      }),
    );
    expect(answers.map((answer) => answer.status)).toEqual(numbers(20).map(() => 201));
    const stored = await loadConnectionSecrets(source(), 'meet');
    for (const field of fields) expect(stored?.[field]).toBe(`v-${field}`);
  });

  it('changes of different keys of one extra at once, each masked elsewhere, keep every secret', async () => {
    await call('POST', '/connections', { connection_id: 'extra', conn_type: 'x', extra: '{"token":"t","n":0}' });
    const answers = await Promise.all(
      numbers(20).map((n) =>
        call('PATCH', '/connections/extra', { conn_type: 'x', extra: `{"token":"***","n":${n}}` }),
      ),
    );
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect((await loadConnectionSecrets(source(), 'extra'))?.extra).toMatch(/^\{"token":"t","n":\d+\}$/);
  });

  it('creates and deletes of one id at once end without an error', async () => {
    const answers = await Promise.all(
      numbers(40).map((n) =>
        n % 2 === 0
          ? call('POST', '/connections', { connection_id: 'blink', conn_type: 'x' })
          : call('DELETE', '/connections/blink'),
      ),
    );
    expect(answers.filter((answer) => ![201, 204, 404].includes(answer.status))).toEqual([]);
  });

  it('bulk requests over the same ids in opposite orders do not deadlock, with single writes in between', async () => {
    const ids = numbers(50).map((n) => `bulk-${n}`);
    const answers = await Promise.all(
      numbers(8).flatMap((n) => [
        overwriteAll(n % 2 === 0 ? ids : ids.toReversed(), `h${n}`),
        call('POST', '/connections', { connection_id: ids[n * 6] ?? '', conn_type: 'y', password: 'kept' }),
      ]),
    );
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([
      ...numbers(8).map(() => 200),
      ...numbers(8).map(() => 201),
    ]);
    expect((await loadConnectionSecrets(source(), 'bulk-0'))?.password).toBe('kept');
  });
});

describe('variables written at the same time', () => {
  it('twenty creates of one key at once all succeed, and a description set by one survives the others', async () => {
    const answers = await Promise.all(
      numbers(20).map((n) =>
        call('POST', '/variables', { key: 'meet', ...(n % 2 === 0 ? { value: 'v' } : { description: 'd' }) }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(numbers(20).map(() => 201));
    expect(await loadVariable(source(), 'meet')).toBe('v');
    expect((await call('GET', '/variables/meet')).json()).toMatchObject({ description: 'd' });
  });

  it('a bulk create that may fail leaves alone what somebody creates meanwhile, and says so', async () => {
    const entities = numbers(300).map((n) => ({ key: `race-${n}`, value: 'bulk' }));
    const [bulk, ...singles] = await Promise.all([
      call('PATCH', '/variables', { actions: [{ action: 'create', entities }] }),
      ...numbers(20).map((n) => call('POST', '/variables', { key: `race-${299 - n}`, value: 'single' })),
    ]);
    expect(singles.every((answer) => answer.status === 201)).toBe(true);
    const outcome = bulk.json<{ create?: { success: string[]; errors: unknown[] } }>();
    const created = outcome.create?.success.length ?? 0;
    // Either everything, before the others came, or nothing.
    expect([0, 300]).toContain(created);
    expect([200, 409]).toContain(bulk.status);
    const { total_entries: total } = (await call('GET', '/variables?variable_key_prefix_pattern=race-')).json();
    expect(total).toBe(created === 300 ? 300 : 20);
  });
});
