import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureTenant } from '../auth/tenants.ts';
import { openCompileValues } from '../open-compile-values.ts';
import { openKeyring } from '../open-keyring.ts';
import type { CompileValues } from './compile-values.ts';
import { createFingerprints, keyOf } from './compile-values.ts';

let server: TestServer;
let token: string;
let tenantId: string;
let values: CompileValues;

const X = { kind: 'variable', name: 'x', isDeclared: true } as const;
const WAREHOUSE = { kind: 'connection', name: 'warehouse', isDeclared: true } as const;
const put = (path: string, body: object) => server.call(path, { method: 'POST', token, body });
const readOf = async (asked: typeof X | typeof WAREHOUSE, by = values) => {
  const found = await by.answer(asked);
  if ('refusal' in found || found.fingerprint === undefined) throw new Error('it was refused');
  return { ...found, kind: asked.kind, name: asked.name, fingerprint: found.fingerprint };
};
const valuesWith = (auth: object, secrets = {}) => {
  const config = { ...server.config, auth: { ...server.config.auth, ...auth } };
  const withSecrets = { ...config, secrets: { ...config.secrets, ...secrets } };
  return openCompileValues({ config: withSecrets, db: server.db, keyring: openKeyring(config) });
};

beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  tenantId = (await ensureTenant(server.db.shared, 'default')).id;
  values = valuesWith({})(tenantId);
});
afterAll(() => server?.close());

it('a value, its change, its deletion and its return are each noticed, and a change of its description is not', async () => {
  const missing = await readOf(X);
  expect(missing).toMatchObject({ text: null, masks: [] });
  await put('/api/v2/variables', { key: 'x', value: '@hourly' });
  expect(await values.changed([missing])).toEqual(new Set([keyOf(X)]));
  const there = await readOf(X);
  expect(there.text).toBe('@hourly');
  await put('/api/v2/variables', { key: 'x', description: 'when' });
  expect(await values.changed([there])).toEqual(new Set());
  await server.call('/api/v2/variables/x', { method: 'DELETE', token });
  expect(await values.changed([there])).toEqual(new Set([keyOf(X)]));
  expect((await readOf(X)).fingerprint).toBe(missing.fingerprint);
});

it('a connection comes whole, with its secrets to hide, and a new password is noticed', async () => {
  await put('/api/v2/connections', {
    connection_id: 'warehouse',
    conn_type: 'postgres',
    host: 'h',
    password: 'first-one',
  });
  const first = await readOf(WAREHOUSE);
  expect(JSON.parse(first.text ?? '')).toMatchObject({ host: 'h', password: 'first-one' });
  expect(first.masks).toEqual(['first-one']);
  await put('/api/v2/connections', { connection_id: 'warehouse', conn_type: 'postgres', password: 'second-one' });
  expect(await values.changed([first])).toEqual(new Set([keyOf(WAREHOUSE)]));
});

it('under enforce a file reads only what its source names, and in another tenant nothing of this one', async () => {
  await put('/api/v2/variables', { key: 'x', value: 'here' });
  const enforced = valuesWith({ secretScoping: 'enforce' })(tenantId);
  expect(await enforced.answer({ ...X, isDeclared: false })).toMatchObject({
    refusal: 'the variable x is not declared, and auth.secret_scoping is enforce',
  });
  expect(await enforced.answer(X)).toMatchObject({ text: 'here' });
  const other = await ensureTenant(server.db.shared, 'other');
  expect(await valuesWith({})(other.id).answer(X)).toMatchObject({ text: null });
});

it('a fingerprint reveals nothing without the key: not the value, and not which names have the same', () => {
  const [one, other] = ['a secret of one installation', 'a secret of another one'].map(createFingerprints);
  const value = { tenantId: 't', kind: 'variable', name: 'x', text: 'true' } as const;
  const all = [
    one?.(value),
    other?.(value),
    one?.({ ...value, name: 'y' }),
    one?.({ ...value, tenantId: 'u' }),
    one?.({ ...value, kind: 'connection' }),
    one?.({ ...value, text: null }),
    one?.({ ...value, text: 'null' }),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(all.every((text) => text?.length === 22)).toBe(true);
});

it('a value that only the secrets backend may have is said to be missing, not silently a default', async () => {
  const backed = valuesWith({}, { backend: 'a.Store' })(tenantId);
  expect(await backed.answer({ ...X, name: 'elsewhere' })).toMatchObject({
    text: null,
    note: 'the variable elsewhere is not in the vault of svc, and a.Store is not asked while a file is loaded',
  });
});
