/**
 * Every operation of the API document against input that nobody means: whatever comes, the answer comes soon, is no
 * server error, and is a whole problem body when it is an error. Seeded, so that a failure can be had again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { SEED } from '@svc/testing/seed.ts';
import { readApi, requestFor } from '@svc/testing/server/api-operations.ts';
import type { Api, Operation } from '@svc/testing/server/api-operations.ts';
import { rawRequest } from '@svc/testing/server/raw-http.ts';
import type { RawAnswer, RawRequest } from '@svc/testing/server/raw-http.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import type { TenantContents } from '@svc/testing/server/tenant-contents.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

// Over all operations together. To search further: npm run bench -- properties --only fuzz
const RUNS = 1_500;
/** Sooner than one that never comes: on a busy machine the largest bodies take their time. */
const ANSWER_WITHIN_MS = 120_000;

let server: TestServer;
let api: Api;
let contents: TenantContents;
let token: string;
/** For the editor's operations. */
let workspace: string;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'svc-fuzz-'));
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000000', 'ui.workspace': workspace });
  api = await readApi(server);
  token = await server.login();
  contents = await fillTenant(server, token, 'fuzz');
});
afterAll(async () => {
  await server?.close();
  await rm(workspace, { recursive: true, force: true });
});

/** Text at the edges of what encodings, databases, paths, dates, numbers and templates can take. */
const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\u202e',
  '💥'.repeat(50),
  'x'.repeat(5_000),
  '../../etc/passwd',
  '..%2f..%2f',
  '%',
  '%00',
  '%zz',
  '~',
  '*',
  '{}',
  '[]',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '1e999',
  '99999999999999999999',
  '2147483648',
  '9223372036854775808',
  '0x10',
  '1_000',
  "' or 1=1 --",
  '"; drop table users; --',
  '${7*7}',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '-id',
  '--id',
  '2016-12-31T23:59:60Z',
  '0000-00-00T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59.999999999-23:59',
  '2021-02-30T00:00:00Z',
  '2021-01-01T00:00:00+99:99',
  'urn:uuid:00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-000000000000',
  '***',
  'a,b',
  'a\r\nb: c',
  '\\',
  '/',
  '//',
  '(((((((((('.repeat(10),
];

const oddText = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.ipV6(),
  fc.json(),
);

/** JSON text; not values, because some of what can be written cannot be held (1e999, a key twice, half a surrogate pair). */
const oddJson = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
  { weight: 4, arbitrary: oddText.map((text) => JSON.stringify(text)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'null',
      'true',
      '-0',
      '1e999',
      '-1e999',
      '1.5',
      '2147483648',
      '9007199254740993',
      '123456789012345678901234567890',
      '0.1e-400',
      '""',
      '[]',
      '{}',
      '[null]',
      '"\\ud800"',
      '"\\u0000"',
      '{"\\u0000":1}',
      '{"\\udc00":1}',
      '{"a":1,"a":2}',
      '{"__proto__":{"polluted":true}}',
      '{"constructor":{"prototype":{"polluted":true}}}',
      '{"toString":null,"valueOf":null}',
      `${'['.repeat(50)}${']'.repeat(50)}`,
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
      `[${'1,'.repeat(5_000)}1]`,
      `"${'x'.repeat(300_000)}"`,
    ),
  },
);

/** What is no JSON at all, as a function of a body that is. */
const breaking = fc.oneof(
  fc.constantFrom<(text: string) => string>(
    () => '',
    () => ' ',
    () => '{',
    () => '}',
    () => 'nonsense',
    () => '\u0000',
    () => '{"a":}',
    () => "{'a':1}",
    () => '[1,]',
    (text) => `${text}${text}`,
    (text) => `\ufeff${text}`,
    (text) => text.slice(1),
  ),
  fc.nat(60).map((length) => (text: string) => text.slice(0, length)),
);

type Fault = {
  path: (request: RawRequest) => string;
  body: (text: string) => string;
  headers: Record<string, string | string[]>;
};
const NO_FAULT: Fault = { path: (request) => request.path, body: (text) => text, headers: {} };

/** Puts text in the place of one segment of the path, counted from the end. */
const faultyPath = fc.tuple(oddText, fc.nat(2), fc.boolean()).map(([text, place, encode]) => ({
  ...NO_FAULT,
  path: ({ path }: RawRequest) => {
    const [route = '', query] = path.split('?');
    const parts = route.split('/');
    parts[Math.max(1, parts.length - 1 - place)] = encode ? encodeLoosely(text) : rawPathText(text);
    return query === undefined ? parts.join('/') : `${parts.join('/')}?${query}`;
  },
}));

const faultyQuery = (operation: Operation) => {
  const known = operation.parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name);
  const names = fc.constantFrom(...known, ...known, ...known, 'limit', 'unknown', '__proto__', 'a[b]', '');
  const pairs = fc.array(fc.tuple(names, oddText), { minLength: 1, maxLength: 4 });
  return fc.tuple(pairs, fc.boolean()).map(([list, twice]) => ({
    ...NO_FAULT,
    path: ({ path }: RawRequest) => {
      const added = [...list, ...(twice ? list : [])].map(
        ([name, text]) => `${encodeLoosely(name)}=${encodeLoosely(text)}`,
      );
      return `${path}${path.includes('?') ? '&' : '?'}${added.join('&')}`;
    },
  }));
};

/** Puts odd JSON in the place of one value somewhere in a good body, or beside it under a name that is not known. */
const faultyValue = fc
  .tuple(oddJson, fc.nat(30), fc.constantFrom('unknown', '__proto__', 'toString', ''))
  .map(([json, place, extra]) => ({
    ...NO_FAULT,
    body: (text: string) => {
      const values = [...text.matchAll(/(?<=[:[,])(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)(?=[,\]}])/g)];
      const value = values[place % (values.length + 2)];
      if (value) return text.slice(0, value.index) + json + text.slice(value.index + value[0].length);
      return place % 2 ? json : text.replace(/\}$/, `,${JSON.stringify(extra)}:${json}}`);
    },
  }));

const faultyBody = breaking.map((body) => ({ ...NO_FAULT, body }));

const faultyHeaders = fc
  .record(
    {
      'content-type': fc.constantFrom(
        'text/plain',
        'application/xml',
        'multipart/form-data; boundary=x',
        'application/json; charset=utf-16',
        'application/json, text/plain',
        'APPLICATION/JSON',
        ';',
      ),
      'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'gzip, gzip', 'zz'),
      accept: fc.constantFrom('text/html', '*/*', 'application/x-ndjson', 'nonsense', ''),
      'accept-encoding': fc.constantFrom('*', 'gzip;q=0', 'identity;q=0', 'zz', ','),
      cookie: fc.constantFrom('_token=x', '=', ';;;', '_token=%zz', '__proto__=x'),
      origin: fc.constantFrom('null', 'x', 'http://'),
      'x-request-id': fc.constantFrom('', 'x'.repeat(500), '\u00ff'),
      'x-forwarded-for': fc.constantFrom('', 'x', '1.2.3.4, 5.6.7.8'),
      traceparent: fc.constantFrom('', '00-0-0-0', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`),
      'if-none-match': fc.constantFrom('*', '"x"'),
      range: fc.constantFrom('bytes=0-1', 'bytes=9-1', 'lines=1'),
    },
    { requiredKeys: [] },
  )
  .map((headers) => ({ ...NO_FAULT, headers }));

const faultFor = (operation: Operation): fc.Arbitrary<Fault> =>
  fc.oneof(
    faultyQuery(operation),
    faultyHeaders,
    ...(operation.path.includes('{') ? [faultyPath, faultyPath] : []),
    ...(operation.body ? [faultyValue, faultyValue, faultyValue, faultyBody] : []),
  );

describe('input that nobody means', () => {
  it('gets an answer that is no server error, from every operation', { timeout: RUNS * 1_000 }, async () => {
    const numRuns = Math.max(8, Math.floor(RUNS / api.operations.length));
    const statuses = new Map<number, number>();
    const found = new Map<string, string>();
    for (const operation of api.operations) {
      for (const fault of fc.sample(faultFor(operation), { seed: SEED, numRuns })) {
        const request = requestWith(operation, fault);
        const answer = await rawRequest(server.url, request);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        // The first of each kind is enough to go by.
        for (const what of faultsOf(answer, isForPeople(operation, request)))
          found.set(`${operation.id}: ${what}`, describeRequest(request));
      }
    }
    expect(Object.fromEntries(found)).toEqual({});
    // It tests something only if much is refused and something gets through.
    expect(statuses.get(400)).toBeGreaterThan(100);
    expect([...statuses.keys()].some((status) => status < 300)).toBe(true);
  });

  it('leaves no trace of an unexpected error in the log', () => {
    const levels = server.logLines.map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(levels.filter((line) => line.level === 'error')).toEqual([]);
  });

  it('does not change what objects are made of', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('leaves the service in order', async () => {
    await eventually(async () => expect((await server.call('/readyz')).status).toBe(200));
    expect((await server.call('/api/v2/users', { token: await server.login() })).status).toBe(200);
  });
});

function requestWith(operation: Operation, fault: Fault): RawRequest {
  const { path, method, body } = requestFor(api, operation, contents.values);
  const text = body === undefined ? undefined : fault.body(JSON.stringify(body));
  // The public operations get no token: one of them is logout.
  const credentials = operation.access === 'public' ? {} : { authorization: `Bearer ${token}` };
  return {
    path: fault.path({ path }),
    method,
    headers: { ...credentials, ...(text !== undefined && { 'content-type': 'application/json' }), ...fault.headers },
    timeoutMs: ANSWER_WITHIN_MS,
    ...(text !== undefined && { body: text }),
  };
}

function describeRequest({ method, path, headers, body }: RawRequest): string {
  const { authorization: _hidden, ...shown } = headers ?? {};
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(shown)} ${String(body ?? '').slice(0, 4_000)}`;
}

/** What is wrong with an answer; an answer may refuse, but it must do so properly. */
function faultsOf({ status, headers, text }: RawAnswer, isPage = false): string[] {
  if (status >= 500) return [`status ${status}: ${text}`];
  if (status < 400) return [];
  if (isPage && headers['content-type'] === 'text/html; charset=utf-8')
    return [...(text.includes('id="request-id"') ? [] : ['no request id']), ...internalsIn(text)];
  if (headers['content-type'] !== 'application/problem+json')
    return [`${status} as ${headers['content-type']}: ${text}`];
  const problem = JSON.parse(text) as Record<string, unknown>;
  return [
    ...['type', 'title', 'detail', 'instance'].filter((field) => typeof problem[field] !== 'string'),
    ...(problem['status'] === status ? [] : ['status']),
    ...internalsIn(text),
  ];
}

const internalsIn = (text: string): string[] =>
  /\b(?:select|insert|update|delete) .* (?:from|into|set)\b|node_modules|\.ts:\d|postgres/i.test(text)
    ? [`internals: ${text}`]
    : [];

/** Single sign-on is walked through in a browser: a refusal there is a page. */
const isForPeople = ({ path }: Operation, { headers }: RawRequest): boolean =>
  path.startsWith('/api/v2/auth/oidc/') && String(headers?.['accept'] ?? '').includes('text/html');

/** As a careless client encodes: half surrogate pairs become replacement characters instead of an exception. */
const encodeLoosely = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Whatever Node lets through in a request line as it is. */
const rawPathText = (text: string): string => text.toWellFormed().replaceAll(/[^\u0021-\u007e]|[?#]/g, '') || '~';
