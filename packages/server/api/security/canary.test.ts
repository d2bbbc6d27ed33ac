/**
 * Canary secrets in every place that takes a secret, and in places that should not but get one by mistake. Then every
 * operation is called, rightly and wrongly, and everything that leaves the process is searched: responses with their
 * headers, log lines, metrics, and what is written to the database.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApi, requestFor } from '@svc/testing/server/api-operations.ts';
import type { Api, Operation } from '@svc/testing/server/api-operations.ts';
import { findCanaries, plant, plantPlain } from '@svc/testing/server/canaries.ts';
import type { Canary } from '@svc/testing/server/canaries.ts';
import { rawRequest } from '@svc/testing/server/raw-http.ts';
import type { RawRequest } from '@svc/testing/server/raw-http.ts';
import type { JsonSchema } from '@svc/testing/server/json-schema-samples.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import type { TenantContents } from '@svc/testing/server/tenant-contents.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const planted = {
  jwtSecret: plantPlain('auth.jwt.secret'),
  adminPassword: plant('auth.bootstrap.password'),
  storeToken: plantPlain('secrets.backend_kwargs'),
  connectionPassword: plant('password of a connection'),
  extraNested: plant('nested in the extra of a connection'),
  extraInList: plant('in a list in the extra of a connection'),
  extraNoJson: plant('extra of a connection that is no JSON'),
  variable: plant('variable of a sensitive name'),
  variableNested: plant('nested in a variable'),
  userPassword: plant('password of a user'),
  newPassword: plant('new password of a user'),
  wrongPassword: plant('wrong password'),
  bearer: plantPlain('made-up bearer'),
  basic: plantPlain('basic credentials'),
  cookie: plantPlain('cookie'),
  header: plantPlain('header of an API key'),
  query: plant('query string'),
  brokenJson: plant('body that is no JSON'),
  wrongMedia: plant('body of the wrong type'),
  wrongType: plant('value of the wrong type'),
  unknownField: plant('field that is not known'),
} satisfies Record<string, Canary>;
const CANARIES = Object.values(planted);
const SECRET_KEY = '5ec7e7'.padEnd(64, 'c0ffee');

let server: TestServer;
let api: Api;
let token: string;
let contents: TenantContents;
/** Everything that came back, with the request it answers. */
const answers: { request: string; text: string }[] = [];
const issuedTokens: Canary[] = [];

beforeAll(async () => {
  server = await startTestServer({
    'auth.login-rate-limit-per-minute': '1000000',
    'auth.jwt.secret': planted.jwtSecret.value.padEnd(40, '!'),
    'auth.bootstrap.password': planted.adminPassword.value,
    'secret-key': SECRET_KEY,
    'secrets.backend': 'a.Store',
    'secrets.backend-kwargs': JSON.stringify({ variables_prefix: 'v', token: planted.storeToken.value }),
  });
  api = await readApi(server);
  token = await logIn(ADMIN_EMAIL, planted.adminPassword.value);
  contents = await fillTenant(server, token, 'canary');
  await plantInTheVault();
  await plantInUsers();
  await callEverythingRightly();
  await callEverythingWrongly();
});
afterAll(() => server?.close());

async function send(input: RawRequest & { json?: unknown }): Promise<{ status: number; text: string }> {
  const { json, ...request } = input;
  const answer = await rawRequest(server.url, {
    ...request,
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...request.headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const issued = /"access_token":"([^"]+)"/.exec(answer.text)?.[1];
  if (issued !== undefined) issuedTokens.push({ place: `token ${issuedTokens.length + 1}`, value: issued });
  answers.push({
    request: `${request.method ?? 'GET'} ${request.path.split('?')[0]}`,
    text: `${JSON.stringify(answer.headers)}\n${answer.text}`,
  });
  return answer;
}

const sendAsAdmin = (input: Parameters<typeof send>[0]) =>
  send({ ...input, headers: { authorization: `Bearer ${token}`, ...input.headers } });

async function logIn(username: string, password: string): Promise<string> {
  const answer = await send({ path: '/auth/token', method: 'POST', json: { username, password } });
  return answer.status === 200 ? (JSON.parse(answer.text) as { access_token: string }).access_token : '';
}

async function plantInTheVault(): Promise<void> {
  const post = async (path: string, json: object) => {
    const { status, text } = await sendAsAdmin({ path, method: 'POST', json });
    if (status !== 201) throw new Error(`planting failed: ${path} ${text}`);
  };
  const extra = {
    host: 'visible',
    nested: { client_secret: planted.extraNested.value, deep: [{ token: planted.extraInList.value }] },
  };
  const connection = { conn_type: 'http', host: 'visible-host', password: planted.connectionPassword.value };
  await post('/api/v2/connections', { ...connection, connection_id: 'planted', extra: JSON.stringify(extra) });
  await post('/api/v2/connections', { ...connection, connection_id: 'no-json', extra: planted.extraNoJson.value });
  await post('/api/v2/variables', { key: 'planted_password', value: planted.variable.value });
  await post('/api/v2/variables', {
    key: 'planted_settings',
    value: JSON.stringify({ region: 'visible-region', api_key: planted.variableNested.value }),
  });
}

async function plantInUsers(): Promise<void> {
  const json = { email: 'planted@example.com', password: planted.userPassword.value, roles: ['viewer'] };
  const created = await sendAsAdmin({ path: '/api/v2/users', method: 'POST', json });
  const { id } = JSON.parse(created.text) as { id: string };
  const own = await logIn('planted@example.com', planted.userPassword.value);
  const passwords = { current_password: planted.userPassword.value, new_password: planted.newPassword.value };
  const path = '/api/v2/auth/password';
  await send({ path, method: 'POST', json: passwords, headers: { authorization: `Bearer ${own}` } });
  await logIn('planted@example.com', planted.wrongPassword.value);
  await sendAsAdmin({ path: `/api/v2/users/${id}`, method: 'PATCH', json: { password: planted.newPassword.value } });
}

/** With this tenant's objects, and where a connection or a variable is asked for, with those that hold canaries. */
async function callEverythingRightly(): Promise<void> {
  const variants: Record<string, unknown>[] = [
    {},
    { connection_id: 'planted', variable_key: 'planted_password', key: 'planted_password' },
    { connection_id: 'no-json', variable_key: 'planted_settings', key: 'planted_settings' },
  ];
  const lasting = api.operations.filter((operation) => operation.method !== 'DELETE' && operation.id !== 'logout');
  for (const operation of lasting)
    for (const variant of variants) {
      const { path, method, body } = requestFor(api, operation, { ...contents.values, ...variant });
      // The passwords of the sample body would replace those that are planted.
      const json = body === undefined ? undefined : withoutSecrets(body);
      await sendAsAdmin({ path, method, ...(json !== undefined && { json }) });
    }
}

async function callEverythingWrongly(): Promise<void> {
  for (const operation of api.operations) {
    const { path, method } = requestFor(api, operation, contents.values);
    const separator = path.includes('?') ? '&' : '?';
    const secret = encodeURIComponent(planted.query.value);
    const query = ['token', 'password', 'api_key', 'access_token', 'q', 'limit'].map((name) => `${name}=${secret}`);
    const credentials = [
      { authorization: `Bearer ${planted.bearer.value}` },
      { authorization: `Basic ${Buffer.from(`admin:${planted.basic.value}`).toString('base64')}` },
      { cookie: `_token=${planted.cookie.value}; session=${planted.cookie.value}` },
    ];
    for (const headers of credentials)
      await send({
        path: `${path}${separator}${query.join('&')}`,
        method,
        headers: { ...headers, 'x-api-key': planted.header.value, 'x-auth-token': planted.header.value },
      });
    if (operation.body) await sendWrongBodies(operation);
  }
}

async function sendWrongBodies(operation: Operation): Promise<void> {
  const { path, method, body } = requestFor(api, operation, contents.values);
  const good = body as Record<string, unknown>;
  const sendText = (text: string, type: string) =>
    sendAsAdmin({ path, method, body: text, headers: { 'content-type': type } });
  await sendText(`{"password":"${planted.brokenJson.value.replaceAll('"', '')}`, 'application/json');
  await sendText(planted.brokenJson.value, 'application/json');
  await sendText(JSON.stringify({ password: planted.wrongMedia.value }), 'text/plain');
  await sendAsAdmin({ path, method, json: planted.wrongType.value });
  await sendAsAdmin({ path, method, json: [planted.wrongType.value] });
  await sendAsAdmin({ path, method, json: { ...good, unknown: planted.unknownField.value } });
  for (const [name, schema] of Object.entries(propertiesOf(operation.body)))
    for (const wrong of wrongValues(schema)) await sendAsAdmin({ path, method, json: { ...good, [name]: wrong } });
}

const resolved = (schema: JsonSchema | undefined): JsonSchema =>
  schema?.$ref === undefined ? (schema ?? {}) : resolved(api.resolve(schema.$ref));

const propertiesOf = (schema: JsonSchema | undefined): Record<string, JsonSchema> => resolved(schema).properties ?? {};

/** Values with the canary in them, of every type but those the schema allows. */
function wrongValues(schema: JsonSchema): unknown[] {
  const { value } = planted.wrongType;
  const choices = resolved(schema).anyOf ?? resolved(schema).oneOf ?? [schema];
  const allowed = new Set(choices.flatMap((choice) => resolved(choice).type ?? ['string', 'array', 'object']));
  const byType: Record<string, unknown[]> = {
    string: [value],
    array: [[value], [[{ x: value }]]],
    object: [{ value }, { password: { value } }],
  };
  return Object.entries(byType).flatMap(([type, values]) => (allowed.has(type) ? [] : values));
}

function withoutSecrets(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) => (/password|extra|^value$/.test(name) ? undefined : value)),
  );
}

describe('the search for canaries', () => {
  it('finds a canary in every form it knows', () => {
    const { value } = planted.connectionPassword;
    const forms = [
      `x${value}x`,
      JSON.stringify({ password: value }),
      `https://user:${encodeURIComponent(value)}@host`,
      Buffer.from(`user:${value}:x`).toString('base64'),
      Buffer.from(`{"a":"${value}"}`).toString('base64'),
      Buffer.from(value).toString('hex'),
    ];
    for (const form of forms) expect(findCanaries(form, CANARIES)).not.toEqual([]);
    expect(findCanaries('canary', CANARIES)).toEqual([]);
  });

  it('has much to search, among it what is no secret of the same objects', () => {
    const all = answers.map((answer) => answer.text).join('\n');
    expect(answers.length).toBeGreaterThan(200);
    for (const visible of ['visible-host', 'visible-region', 'planted_password', '***', 'planted@example.com'])
      expect(all).toContain(visible);
    expect(server.logLines.length).toBeGreaterThan(200);
  });
});

describe('of the canaries, no secret', () => {
  it('is in any response, body or header', () => {
    const leaks = answers.flatMap(({ request, text }) =>
      findCanaries(text, CANARIES).map((found) => `${request}: ${found}`),
    );
    expect([...new Set(leaks)]).toEqual([]);
  });

  it('is in any response as the hash of a password or as the key that seals the others', () => {
    const all = answers.map((answer) => answer.text).join('\n');
    expect(all).not.toContain('argon2');
    expect(all).not.toContain(SECRET_KEY);
  });

  it('is in any line of the log, a token that works least of all', () => {
    const lines = server.logLines.join('');
    expect(issuedTokens.length).toBeGreaterThan(3);
    expect(findCanaries(lines, [...CANARIES, ...issuedTokens])).toEqual([]);
    expect(lines).not.toContain(SECRET_KEY);
    expect(lines).not.toMatch(/eyJ[\w-]{10,}\.[\w-]{10,}\./);
  });

  it('is in the metrics', async () => {
    const metrics = await (await fetch(server.metricsUrl)).text();
    expect(metrics).toContain('http_requests_total');
    expect(findCanaries(metrics, [...CANARIES, ...issuedTokens])).toEqual([]);
  });

  it('is in the audit log, nor in the clear anywhere else in the database', async () => {
    const tables = await sql<{ name: string }>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(server.db.shared);
    expect(tables.rows.map((table) => table.name)).toEqual(expect.arrayContaining(['audit_log', 'connections']));
    for (const { name } of tables.rows) {
      const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.table(name)} t`.execute(
        server.db.shared,
      );
      const text = rows.map((row) => row.text).join('\n');
      expect([name, findCanaries(text, [...CANARIES, ...issuedTokens])]).toEqual([name, []]);
    }
  });
});
