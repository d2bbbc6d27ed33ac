/**
 * What authors write comes back to the digit, or is refused: every door of the API that takes such data, and every one that
 * gives it. Tasks are packages/cli/exact-data.test.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ParamSpec } from '@svc/spec/schema-parts.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { numberText } from '@svc/testing/spec/number-text.ts';
import type { TenantDb } from '../db/database.ts';
import { askOnce } from '../db/task-instances/hitl.ts';
import { saveAssets } from '../db/assets/references.ts';

let server: TestServer;
let token = '';
let db: TenantDb;
let tenantId = '';
let assetId = 0;
let question = '';

const RUN_ID = 'manual__2026-01-02T10:00:00+00:00';
const RUN = `/api/v2/dags/etl/dagRuns/${encodeURIComponent(RUN_ID)}`;
const XCOMS = `${RUN}/taskInstances/load/xcomEntries`;

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
  ({ id: tenantId } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow());
  db = server.db.tenant(tenantId);
  await insertDag(db, { dagId: 'etl', taskIds: ['load', 'ask'] });
  await send('PATCH', '/api/v2/dags/etl', '{"is_paused":false}');
  const run = await insertRun(db, {
    dagId: 'etl',
    runId: RUN_ID,
    instances: [{ task_id: 'load' }, { task_id: 'ask', try_number: 1, state: 'deferred' }],
  });
  const daily = { type: 'cron_trigger' as const, expression: '0 0 * * *', timezone: 'UTC' };
  await registerScheduledDag(db, { dagId: 'daily', schedule: daily });
  const ids = await saveAssets(db, [{ name: 'a', uri: 's3://a', group: 'asset', extra: {} }]);
  assetId = [...ids.values()][0] ?? 0;
  await askOnce(
    server.db.shared,
    { tenantId, run, taskId: 'ask', mapIndex: -1, tryNumber: 1 },
    {
      dagId: 'etl',
      subject: 'How many?',
      body: null,
      options: ['yes'],
      defaults: null,
      multiple: false,
      params: { v: { value: null, description: null, schema: {} } },
      assignedUsers: [],
      timeout: null,
    },
  );
  question = `${RUN}/taskInstances/ask/-1/hitlDetails`;
});
afterAll(() => server?.close());

const send = (method: string, path: string, body?: string): Promise<Answer> =>
  server.call(path, { method, token, ...(body !== undefined && { body }) });
const textOf = async (method: string, path: string, body?: string): Promise<string> => {
  const { status, text } = await send(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
};
const textIn = (answer: string, field: string): string =>
  String((JSON.parse(answer) as Record<string, unknown>)[field]);

const param = (fallback: string): ParamSpec => ({
  name: 'v',
  schema: parseExact(`{"default_of_form":${fallback}}`) as Record<string, unknown>,
  description: null,
  source: 'dag',
  has_default: true,
  default: parseExact(fallback),
});

type Door = {
  method: 'POST' | 'PATCH';
  path: () => string;
  /** With the data as JSON text, `{"v":[…]}`. */
  body: (data: string) => string;
  /** Answers in which the data must stand as it was sent. */
  read?: (answer: string) => Promise<string[]>;
  /** The data is a text in the answer. */
  isText?: boolean;
  before?: () => Promise<unknown>;
};

const deleteVariable = () => send('DELETE', '/api/v2/variables/exact');
const deleteConnection = () => send('DELETE', '/api/v2/connections/exact');
const deleteXcom = () => send('DELETE', `${XCOMS}/exact`);
const runOf = (answer: string): string =>
  `/api/v2/dags/etl/dagRuns/${encodeURIComponent(textIn(answer, 'dag_run_id'))}`;

const DOORS: Record<string, Door> = {
  'conf of a run': {
    method: 'POST',
    path: () => '/api/v2/dags/etl/dagRuns',
    body: (data) => `{"logical_date":null,"conf":${data}}`,
    read: async (answer) => [
      answer,
      await textOf('GET', runOf(answer)),
      await textOf('GET', '/api/v2/dags/etl/dagRuns?order_by=-id&limit=1'),
      await textOf('POST', '/api/v2/dags/~/dagRuns/list', '{"dag_ids":["etl"],"order_by":"-id","page_limit":1}'),
      await textOf('PATCH', runOf(answer), '{"note":"x"}'),
    ],
  },
  'conf of a backfill': {
    method: 'POST',
    path: () => '/api/v2/backfills',
    body: (data) =>
      `{"dag_id":"daily","from_date":"2026-01-01T00:00:00Z","to_date":"2026-01-01T00:00:00Z","reprocess_behavior":"completed","dag_run_conf":${data}}`,
    before: async () => {
      await db.deleteFrom('dag_runs').where('dag_id', '=', 'daily').execute();
      await db.deleteFrom('backfills').execute();
    },
    read: async (answer) => [
      answer,
      await textOf('GET', `/api/v2/backfills/${textIn(answer, 'id')}`),
      await textOf('GET', '/api/v2/backfills?dag_id=daily'),
      await textOf('GET', '/api/v2/dags/daily/dagRuns'),
    ],
  },
  'a variable': {
    method: 'POST',
    path: () => '/api/v2/variables',
    body: (data) => `{"key":"exact","value":${data}}`,
    before: deleteVariable,
    isText: true,
    read: async (answer) => [answer, await textOf('GET', '/api/v2/variables/exact')],
  },
  'a variable in bulk': {
    method: 'PATCH',
    path: () => '/api/v2/variables',
    body: (data) => `{"actions":[{"action":"create","entities":[{"key":"exact","value":${data}}]}]}`,
    before: deleteVariable,
    isText: true,
    read: async () => [await textOf('GET', '/api/v2/variables/exact')],
  },
  'extra of a connection': {
    method: 'POST',
    path: () => '/api/v2/connections',
    body: (data) => `{"connection_id":"exact","conn_type":"http","extra":${JSON.stringify(data)}}`,
    before: deleteConnection,
    isText: true,
    read: async (answer) => [answer, await textOf('GET', '/api/v2/connections/exact')],
  },
  'a cross-task value': {
    method: 'POST',
    path: () => XCOMS,
    body: (data) => `{"key":"exact","value":${data}}`,
    before: deleteXcom,
    read: async (answer) => [
      answer,
      await textOf('GET', `${XCOMS}/exact`),
      await textOf('GET', `/api/v2/xcoms/etl/${encodeURIComponent(RUN_ID)}/load/exact`),
      await textOf('GET', `${XCOMS}/exact?deserialize=true`),
    ],
  },
  'a cross-task value that is changed': {
    method: 'PATCH',
    path: () => `${XCOMS}/exact`,
    body: (data) => `{"value":${data}}`,
    before: async () => {
      await deleteXcom();
      await textOf('POST', XCOMS, '{"key":"exact","value":0}');
    },
    read: async (answer) => [answer, await textOf('GET', `${XCOMS}/exact`)],
  },
  'extra of an asset event': {
    method: 'POST',
    path: () => '/api/v2/assets/events',
    body: (data) => `{"asset_id":${assetId},"extra":{"data":${data}}}`,
    read: async (answer) => [answer, await textOf('GET', '/api/v2/assets/events?order_by=-id&limit=1')],
  },
  'the answer of a person': {
    method: 'PATCH',
    path: () => question,
    body: (data) => `{"chosen_options":["yes"],"params_input":${data}}`,
    before: async () => {
      await db.updateTable('questions').set({ responded_at: null, chosen_options: null, params_input: '{}' }).execute();
      await db.updateTable('task_instances').set({ state: 'deferred' }).where('task_id', '=', 'ask').execute();
    },
    read: async (answer) => [answer, await textOf('GET', question)],
  },
  'a compiled DAG': {
    method: 'POST',
    path: () => '/api/v2/dags/compiled/dagVersions',
    body: (data) => {
      const spec = makeSpec({
        dagId: 'compiled',
        tasks: [makeTask('one')],
        dag: { default_args: { v: parseExact(data) } },
      });
      const outlet = {
        type: 'asset' as const,
        name: 'b',
        uri: 's3://b',
        group: 'asset',
        extra: { v: parseExact(data) },
      };
      spec.tasks = spec.tasks.map((task) => ({ ...task, params: [param(data)], outlets: [outlet] }));
      return JSON.stringify({ spec: { ...spec, params: [param(data)] } });
    },
    read: async () => {
      const details = await textOf('GET', '/api/v2/dags/compiled/details');
      const { params, default_args: defaults } = parseExact(details) as { params: object; default_args: object };
      return [
        JSON.stringify(params),
        JSON.stringify(defaults),
        await textOf('GET', '/api/v2/dags/compiled/tasks'),
        await textOf('GET', '/api/v2/assets?name_pattern=b'),
      ];
    },
  },
};

describe.each(Object.entries(DOORS))('%s', (_name, door) => {
  it('comes back to the digit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(numberText, { minLength: 5, maxLength: 40 }), async (numbers) => {
        const data = `{"v":[${numbers.join(',')}]}`;
        await door.before?.();
        const answers = (await door.read?.(await textOf(door.method, door.path(), door.body(data)))) ?? [];
        const expected = door.isText ? JSON.stringify(data).slice(1, -1) : data;
        for (const answer of answers) expect(answer).toContain(expected);
      }),
      { numRuns: 4 },
    );
  });

  it.each([
    ['1e999', /1e999 is beyond/],
    ['-1e400', /-1e400 is beyond/],
    ['1e-999', /nearer to 0/],
    [`1${'0'.repeat(400)}`, /is beyond/],
    [String.raw`"\u0000"`, /U\+0000/],
    [String.raw`"\ud800"`, /surrogate/],
  ])('is refused when it cannot be kept: %s', async (value, words) => {
    // The extra of a connection is a text, which is kept whatever it says.
    if (door.path() === '/api/v2/connections') return;
    await door.before?.();
    const { status, text } = await send(door.method, door.path(), rawBody(door, value));
    expect([status, text]).toEqual([400, expect.stringMatching(words)]);
  });

  it('is refused when its bytes are no UTF-8', async () => {
    await door.before?.();
    const [before = '', after = ''] = rawBody(door, '"%"').split('%');
    const body = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${door.path()}`, { method: door.method, headers, body });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('not valid UTF-8')]);
  });
});

/** Made from text that is replaced afterwards, because a door may read what it is given. */
const rawBody = (door: Door, value: string): string => door.body('{"v":4711}').replaceAll('4711', () => value);

describe('a name that a path cannot lead to', () => {
  it.each([
    ['a variable', '/api/v2/variables', '{"key":"%","value":"x"}'],
    ['a connection', '/api/v2/connections', '{"connection_id":"%","conn_type":"http"}'],
    ['a pool', '/api/v2/pools', '{"name":"%","slots":1}'],
    ['a cross-task value', XCOMS, '{"key":"%","value":1}'],
    ['a run', '/api/v2/dags/etl/dagRuns', '{"logical_date":null,"dag_run_id":"%"}'],
  ])('is refused: %s', async (_name, path, body) => {
    for (const name of ['.', '..']) expect((await send('POST', path, body.replace('%', name))).status).toBe(400);
    expect((await send('POST', path, body.replace('%', '...'))).status).toBeLessThan(300);
  });

  it('is refused in bulk too', async () => {
    const body = '{"actions":[{"action":"create","entities":[{"key":"..","value":"x"}]}]}';
    const { status, text } = await send('PATCH', '/api/v2/variables', body);
    expect([status, text]).toEqual([400, expect.stringContaining('which mean folders in a URL')]);
  });
});

describe('looking for a part of a conf', () => {
  it('finds numbers by value, and knows no number that Postgres does not', async () => {
    await textOf(
      'POST',
      '/api/v2/dags/etl/dagRuns',
      '{"logical_date":null,"dag_run_id":"look","conf":{"n":1e5,"big":9007199254740993}}',
    );
    const found = async (wanted: string) =>
      (await send('GET', `/api/v2/dags/etl/dagRuns?conf_contains=${encodeURIComponent(wanted)}&limit=1000`)).text;
    expect(await found('{"n":100000}')).toContain('"look"');
    expect(await found('{"big":9007199254740993}')).toContain('"look"');
    expect(await found('{"big":9007199254740992}')).not.toContain('"look"');
    expect(await found('{"n":1e999999999}')).toContain('"total_entries":0');
  });
});
