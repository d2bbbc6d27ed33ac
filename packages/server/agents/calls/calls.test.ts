import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { insertInstance, insertRun } from '@svc/testing/engine/run-rows.ts';
import { shownText } from '../../xcom/stored/shown-text.ts';
import { PART_BYTES } from '../../xcom/stored/value-files.ts';
import type { TriggerAnswer, TriggerRequest } from '../collaborators.ts';

const DAG = `
from airflow.sdk import dag, task, task_group

@dag(schedule="0 6 * * *", start_date=__import__("datetime").datetime(2026, 1, 1), catchup=False)
def daily():
    @task
    def first():
        pass

    @task_group
    def inner():
        @task
        def second():
            pass
        second()

    first() >> inner()

daily()
`;

let harness: AgentHarness;
let client: AgentTestClient;
const triggered: TriggerRequest[] = [];
let answer: (request: TriggerRequest) => TriggerAnswer | Promise<TriggerAnswer>;

beforeAll(async () => {
  harness = await startAgentHarness(
    { xcomMaxBytes: 4 * 1_048_576 },
    {
      triggerRun: async (request) => {
        triggered.push(request);
        return answer(request);
      },
      readAssetEvents: async (query) => [
        {
          asset: { name: query.name ?? '', uri: query.uri ?? '' },
          extra: { run: query.run, triggering: query.triggering },
          timestamp: '2026-01-01T00:00:00Z',
          source_dag_id: null,
          source_task_id: null,
          source_run_id: null,
          source_map_index: null,
          partition_key: null,
          aliases: [],
        },
      ],
    },
  );
  for (const tenant of Object.values(harness.tenants)) await harness.addDag(tenant, 'daily.py', DAG);
  await harness.startService();
  client = connectAgentClient(harness.address());
});

afterAll(async () => {
  client?.close();
  await harness?.close();
});

async function running(values: { logicalDate?: string } = {}): Promise<{ attempt: QueuedAttempt; token: string }> {
  const attempt = await harness.queue({ dagId: 'daily', taskId: 'first' });
  const { logicalDate: date } = values;
  if (date !== undefined) {
    const set = { logical_date: date, data_interval_start: date, data_interval_end: date };
    await harness.db.tenant(attempt.tenantId).updateTable('dag_runs').set(set).where('id', '=', attempt.run).execute();
  }
  const token = await harness.token(attempt);
  await client.call('Start', token, { hostname: 'test', pid: 1 });
  return { attempt, token };
}

describe('the provider packages of an environment', () => {
  const installed = async (tenantId: string) =>
    (
      await harness.db
        .tenant(tenantId)
        .selectFrom('dags')
        .select('installed_providers')
        .where('dag_id', '=', 'daily')
        .executeTakeFirstOrThrow()
    ).installed_providers;

  it('are kept with the DAG of the attempt that told them, in its tenant alone', async () => {
    const { attempt, token } = await running();
    const provider = { name: 'apache-airflow-providers-ftp', version: '3.0', summary: 'Files' };
    await client.ask(token, 'report_providers', { providers: [provider] });
    expect(await installed(attempt.tenantId)).toEqual([{ ...provider, documentation_url: null }]);
    const others = Object.values(harness.tenants).filter((tenant) => tenant !== attempt.tenantId);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) expect(await installed(other)).toBeNull();
  });

  it('lead to no other place than a page', async () => {
    const { attempt, token } = await running();
    const urls = [
      'https://example.org/docs',
      'javascript:alert(1)',
      'no address',
      7,
      `https://example.org/${'x'.repeat(2_000)}`,
    ];
    const providers = urls.map((url) => ({ name: 'a', version: '1', summary: '', documentation_url: url }));
    await client.ask(token, 'report_providers', { providers });
    const kept = (await installed(attempt.tenantId))?.map(({ documentation_url: url }) => url);
    expect(kept).toEqual(['https://example.org/docs', null, null, null, null]);
  });

  it('bring the forms of their connection types, and of those only what can be shown', async () => {
    const { attempt, token } = await running();
    const types = [
      {
        'connection-type': 'orchard',
        'hook-class-name': 'orchard.hooks.OrchardHook',
        'hook-name': 'Orchard',
        'ui-field-behaviour': { 'hidden-fields': ['schema', 7], relabeling: { login: 'Gardener', port: null } },
        'conn-fields': { rows: { label: 'Rows', schema: { type: ['integer', 'null'], default: 4 } }, odd: 'text' },
      },
      { 'connection-type': 'no type of a connection' },
      'none',
    ];
    const provider = { name: 'orchard-hooks', version: '1', summary: '' };
    await client.ask(token, 'report_providers', { providers: [{ ...provider, connection_types: types }] });
    expect(await installed(attempt.tenantId)).toEqual([
      {
        ...provider,
        documentation_url: null,
        connection_types: [
          {
            type: 'orchard',
            hook_class: 'orchard.hooks.OrchardHook',
            name: 'Orchard',
            hidden: ['schema'],
            titles: { login: 'Gardener' },
            placeholders: {},
            extra: { rows: { label: 'Rows', schema: { type: ['integer', 'null'], default: 4 } } },
          },
        ],
      },
    ]);
  });

  it.each([
    ['no list', { providers: 'ftp' }],
    ['too many', { providers: Array.from({ length: 1_001 }, () => ({ name: 'a', version: '1', summary: '' })) }],
    ['one without a version', { providers: [{ name: 'a', summary: '' }] }],
    ['a text that cannot be stored', { providers: [{ name: 'a\0b', version: '1', summary: '' }] }],
  ])('are refused: %s', async (_what, params) => {
    const { token } = await running();
    expect(await client.refusedAsk(token, 'report_providers', params)).toBe('INVALID_ARGUMENT');
  });
});

describe('values that are too large for Postgres', () => {
  const text = JSON.stringify('x'.repeat(2 * PART_BYTES));
  const bytes = Buffer.byteLength(text);
  const partAt = (offset: number) =>
    Buffer.from(text)
      .subarray(offset, offset + PART_BYTES)
      .toString('base64');
  const store = async (token: string, id: string, offsets = [0, PART_BYTES, 2 * PART_BYTES]) => {
    for (const offset of offsets) await client.ask(token, 'store_value', { id, bytes, offset, data: partAt(offset) });
  };
  const named = (id: string) => ({ key: 'large', value: 'A large text.', stored: { id, length: null } });
  const rowsOf = (id: string) =>
    harness.db.tenant(harness.tenants.a).selectFrom('stored_values').select('id').where('id', '=', id).execute();
  const fileOf = (attempt: QueuedAttempt, id: string) => join(harness.logFolder, '.values', attempt.tenantId, id, '2');
  const end = (attempt: QueuedAttempt) => harness.endInstance(attempt, { age: '1 second' });

  it('travel in parts, of which a repeated one changes nothing, and come back whole', async () => {
    const { token } = await running();
    const id = randomUUID();
    await store(token, id, [0, 0, PART_BYTES, 0, 2 * PART_BYTES, 2 * PART_BYTES]);
    await client.ask(token, 'set_xcom', named(id));
    expect(await client.ask(token, 'get_xcom', { key: 'large' })).toEqual([
      { task_id: 'first', map_index: -1, key: 'large', stored: id, value: 'A large text.' },
    ]);
    const parts = await Promise.all(
      [0, 1, 2].map((part) => client.ask<{ bytes: number; data: string }>(token, 'read_value', { id, part })),
    );
    expect(Buffer.concat(parts.map(({ data }) => Buffer.from(data, 'base64'))).toString()).toBe(text);
    const row = { tenant_id: harness.tenants.a, stored: id, value: '"A large text."' };
    const shown = (maxBytes: number) =>
      shownText(harness.db.tenant(harness.tenants.a), harness.storedValues, row, maxBytes);
    expect(await shown(bytes)).toBe(text);
    expect(await shown(bytes - 1)).toBe(`"A large text. Not shown, because it has more than ${bytes - 1} bytes."`);
  });

  it('are refused before they fill the store, and named only when they are complete', async () => {
    const { token } = await running();
    const id = randomUUID();
    const part = { id, bytes, offset: 0, data: partAt(0) };
    expect(await client.refusedAsk(token, 'store_value', { ...part, bytes: 4 * 1_048_576 + 1 })).toBe('OUT_OF_RANGE');
    expect(await client.refusedAsk(token, 'store_value', { ...part, offset: 7 })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'store_value', { ...part, id: '../../x' })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'store_value', { ...part, data: 'QQ==' })).toBe('ABORTED');
    await store(token, id, [0, PART_BYTES]);
    expect(await client.refusedAsk(token, 'set_xcom', named(id))).toBe('INVALID_ARGUMENT');
    const outcome = { state: 'success', xcoms: [{ ...named(id), value: '"A large text."' }] };
    await client.call('Finish', token, { outcome_json: JSON.stringify(outcome) });
    expect(harness.attempts.recorded.at(-1)?.outcome).toMatchObject({
      state: 'failed',
      failure: { text: 'the value for large was not stored completely: run the task again' },
    });
  });

  it('of one tenant are out of reach for a task of another', async () => {
    const { token } = await running();
    const id = randomUUID();
    await store(token, id);
    const theirs = await harness.queue({ tenantId: harness.tenants.b, dagId: 'daily', taskId: 'first' });
    const stranger = await harness.token(theirs);
    await client.call('Start', stranger, { hostname: 'test', pid: 1 });
    expect(await client.refusedAsk(stranger, 'read_value', { id, part: 0 })).toBe('NOT_FOUND');
    expect(await client.refusedAsk(stranger, 'set_xcom', named(id))).toBe('INVALID_ARGUMENT');
  });

  it('are kept while an XCom or a running attempt needs them, and are removed with their run or after a lost end', async () => {
    const [kept, lost] = [await running(), await running()];
    const [keptId, lostId] = [randomUUID(), randomUUID()];
    await store(kept.token, keptId);
    await client.ask(kept.token, 'set_xcom', named(keptId));
    await store(lost.token, lostId); // its process dies before it can name the value
    await harness.storedValues.collect();
    expect([await rowsOf(keptId), await rowsOf(lostId)].map(({ length }) => length)).toEqual([1, 1]);
    await end(lost.attempt);
    await end(kept.attempt);
    await harness.storedValues.collect();
    expect([existsSync(fileOf(lost.attempt, lostId)), existsSync(fileOf(kept.attempt, keptId))]).toEqual([false, true]);
    expect([await rowsOf(keptId), await rowsOf(lostId)].map(({ length }) => length)).toEqual([1, 0]);
    await harness.db.tenant(kept.attempt.tenantId).deleteFrom('dag_runs').where('id', '=', kept.attempt.run).execute();
    await harness.storedValues.collect();
    expect([existsSync(fileOf(kept.attempt, keptId)), await rowsOf(keptId)]).toEqual([false, []]);
  });

  it('are removed when a small value replaces them, also by a statement that does not know them', async () => {
    const { attempt, token } = await running();
    const [first, second] = [randomUUID(), randomUUID()];
    await store(token, first);
    await client.ask(token, 'set_xcom', named(first));
    await client.ask(token, 'set_xcom', { key: 'large', value: 1 });
    await store(token, second);
    await client.ask(token, 'set_xcom', named(second));
    const ours = harness.db.tenant(attempt.tenantId);
    await ours.updateTable('xcoms').set({ value: '2' }).where('run', '=', attempt.run).execute();
    expect(await ours.selectFrom('xcoms').select(['value', 'stored']).where('run', '=', attempt.run).execute()).toEqual(
      [{ value: '2', stored: null }],
    );
    await end(attempt);
    await harness.storedValues.collect();
    expect([...(await rowsOf(first)), ...(await rowsOf(second))]).toEqual([]);
  });
});

describe('values that a task reads and writes', () => {
  it('are written over, listed by instance in order, and taken back', async () => {
    const { token } = await running();
    await client.ask(token, 'set_xcom', { key: 'k', value: [1] });
    await client.ask(token, 'set_xcom', { key: 'k', value: { a: 1, b: 2 } });
    expect(await client.ask(token, 'get_xcom', { task_id: 'first', key: 'k', map_index: null })).toEqual([
      { task_id: 'first', map_index: -1, key: 'k', value: { a: 1, b: 2 } },
    ]);
    await client.ask(token, 'delete_xcom', { key: 'k' });
    expect(await client.ask(token, 'get_xcom', { task_id: 'first', key: 'k' })).toEqual([]);
  });

  it('that are too large, or have no key, are refused by name', async () => {
    const { token } = await running();
    const large = 'x'.repeat(1_048_576);
    expect(await client.refusedAsk(token, 'set_xcom', { key: 'k', value: large })).toBe('OUT_OF_RANGE');
    expect(await client.refusedAsk(token, 'set_xcom', { key: '', value: 1 })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'set_xcom', { key: 'k' })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'set_xcom', { key: '..', value: 1 })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'set_variable', { key: '.', value: 'x' })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'get_xcom', { key: 7 })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'get_xcom', { key: 'a\0b' })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'get_xcom', { map_index: 1.5 })).toBe('INVALID_ARGUMENT');
    expect(await client.refusedAsk(token, 'no_such_method', {})).toBe('UNIMPLEMENTED');
  });

  it.each([
    ['nested deeper than anything can write again', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['with half of a surrogate pair', String.raw`"\ud800"`],
    ['with U+0000', String.raw`{"a":["\u0000"]}`],
    ['with a key twice, of which one would be lost', '{"a":{"b":1,"b":2}}'],
  ])('that HTTP refuses are refused here, too: %s', async (_what, value) => {
    const { token } = await running();
    const refused = await client.refusedText(token, 'set_xcom', `{"key":"k","value":${value}}`);
    expect(refused).toMatch(/INVALID_ARGUMENT.*the value for k/);
  });

  it('of earlier runs are all values in the order of dates, of one instance the newest, and never of a later run', async () => {
    const [old, newer, none, later] = [
      await running({ logicalDate: '2026-02-01T00:00:00Z' }),
      await running({ logicalDate: '2026-02-02T00:00:00Z' }),
      await running({ logicalDate: '2026-02-03T00:00:00Z' }),
      await running({ logicalDate: '2026-02-04T00:00:00Z' }),
    ];
    for (const [text, { token }] of Object.entries({ old, newer, later })) {
      await client.ask(token, 'set_xcom', { key: 'prior', value: text });
    }
    const query = { task_id: 'first', key: 'prior', include_prior_dates: true };
    const pull = async (more: object): Promise<string[]> =>
      (await client.ask<{ value: string }[]>(none.token, 'get_xcom', { ...query, ...more })).map(({ value }) => value);
    expect(await pull({})).toEqual(['old', 'newer']);
    expect(await pull({ map_index: -1 })).toEqual(['newer']);
  });
});

describe('states of other runs', () => {
  it('are found by date and by run, of runs, tasks and groups, and say what does not exist', async () => {
    const scoped = harness.db.tenant(harness.tenants.a);
    const date = '2026-05-01T06:00:00Z';
    const run = await insertRun(scoped, { dagId: 'daily', runId: 'other', logical_date: date, state: 'failed' });
    for (const [taskId, state] of [
      ['first', 'success'],
      ['inner.second', 'failed'],
    ] as const) {
      await insertInstance(scoped, { run, dagId: 'daily', instance: { task_id: taskId, state } });
    }
    const { token } = await running();
    const states = async (query: object) => {
      const found = await client.ask<{ states: { task_id: string | null; state: string }[] }>(
        token,
        'external_states',
        { dag_id: 'daily', logical_dates: [date], ...query },
      );
      return found.states.map(({ task_id: id, state }) => [id, state]).sort();
    };
    expect(await states({})).toEqual([[null, 'failed']]);
    expect(await states({ task_ids: ['first'] })).toEqual([['first', 'success']]);
    expect(await states({ task_group_id: 'inner' })).toEqual([['inner.second', 'failed']]);
    expect(await states({ task_ids: [] })).toHaveLength(2);
    expect(await states({ logical_dates: null, run_ids: ['other'], task_ids: ['first'] })).toHaveLength(1);
    expect(await states({ logical_dates: ['2026-05-02T06:00:00Z'] })).toEqual([]);
    const missing = { dag_id: 'daily', task_ids: ['first', 'gone'], logical_dates: [date] };
    expect(await client.ask(token, 'external_states', missing)).toMatchObject({ missing_task_ids: ['gone'] });
    const group = { dag_id: 'daily', task_group_id: 'gone', logical_dates: [date] };
    expect(await client.ask(token, 'external_states', group)).toMatchObject({ missing_task_group: true, states: [] });
    expect(await client.ask(token, 'external_states', { dag_id: 'gone' })).toMatchObject({ dag_exists: false });
    expect(await client.ask(token, 'get_dag_run_state', { dag_id: 'daily', run_id: 'other' })).toEqual({
      state: 'failed',
    });
    expect(await client.refusedAsk(token, 'get_dag_run_state', { dag_id: 'daily', run_id: 'gone' })).toBe('NOT_FOUND');
  });

  it('of another tenant are not found', async () => {
    const scoped = harness.db.tenant(harness.tenants.b);
    await insertRun(scoped, { dagId: 'daily', runId: 'theirs', logical_date: '2026-06-01T06:00:00Z' });
    const { token } = await running();
    expect(await client.refusedAsk(token, 'get_dag_run_state', { dag_id: 'daily', run_id: 'theirs' })).toBe(
      'NOT_FOUND',
    );
    const query = { dag_id: 'daily', run_ids: ['theirs'] };
    expect(await client.ask(token, 'external_states', query)).toMatchObject({ states: [] });
  });
});

describe('the runs before this one', () => {
  // Hazard: the task receives another run than the one it asked for: of another state, of a later date, of another tenant.
  it('are found by date, state, task and map index', async () => {
    const scoped = harness.db.tenant(harness.tenants.a);
    const runs = { early: 'success', middle: 'failed', late: 'success' } as const;
    for (const [index, [runId, state]] of Object.entries(runs).entries()) {
      const date = `2027-01-0${index + 1}T00:00:00Z`;
      const run = await insertRun(scoped, { dagId: 'daily', runId, logical_date: date, state });
      for (const map_index of [-1, 0]) {
        await insertInstance(scoped, { run, dagId: 'daily', instance: { task_id: 'first', state, map_index } });
      }
    }
    const { token } = await running({ logicalDate: '2027-01-03T00:00:00.5Z' });
    const runBefore = async (state: string | null) =>
      (await client.ask<{ run_id: string } | null>(token, 'previous_run', { state }))?.run_id;
    expect([await runBefore(null), await runBefore('failed'), await runBefore('success')]).toEqual([
      'late',
      'middle',
      'late',
    ]);
    const before = async (params: object) =>
      (await client.ask<{ run_id: string } | null>(token, 'previous_instance', params))?.run_id;
    expect(await before({})).toBe('late');
    expect(await before({ state: 'failed', map_index: 0 })).toBe('middle');
    expect(await before({ before: '2027-01-02T00:00:00Z', map_index: 0 })).toBe('early');
    expect(await before({ map_index: 7 })).toBeUndefined();
    for (const method of ['previous_run', 'previous_instance']) {
      expect(await client.refusedAsk(token, method, { state: 'nonsense' })).toBe('INVALID_ARGUMENT');
    }
  });

  it('are none for a run without a date, which sees the newest instance of all', async () => {
    const { token } = await running();
    expect(await client.ask(token, 'previous_run', {})).toBeNull();
    expect(await client.ask(token, 'previous_instance', {})).toMatchObject({ task_id: 'first', map_index: -1 });
  });
});

describe('facts of a DAG', () => {
  it('are told by id, and an id that does not exist is said so', async () => {
    const { token } = await running();
    expect(await client.ask(token, 'get_dag', { dag_id: 'daily' })).toMatchObject({ dag_id: 'daily', tags: [] });
    expect(await client.refusedAsk(token, 'get_dag', { dag_id: 'gone' })).toBe('NOT_FOUND');
  });
});

describe('the run after this one', () => {
  it('is the next of the schedule, although the DAG does not catch up; a run without an interval has none', async () => {
    const { token } = await running({ logicalDate: '2026-03-01T06:00:00Z' });
    expect(await client.ask(token, 'next_run_after', {})).toMatch(/^2026-03-02T06:00:00/);
    expect(await client.ask((await running()).token, 'next_run_after', {})).toBeNull();
  });
});

describe('asset events', () => {
  it('are asked for in the name of the run of the credential', async () => {
    const { token, attempt } = await running();
    expect(await client.ask(token, 'asset_events', { name: 'n', run: 1, triggering: true })).toMatchObject([
      { asset: { name: 'n' }, extra: { run: attempt.run, triggering: true } },
    ]);
  });
});

describe('a triggered run', () => {
  const made = (runId: string): TriggerAnswer => ({
    kind: 'created',
    run: { id: 1, run_id: runId, logical_date: null, state: 'queued' },
  });

  it('is made once, however often the call is repeated, and again for another request', async () => {
    const { token, attempt } = await running();
    answer = () => made(`made ${triggered.length}`);
    triggered.length = 0;
    const ask = (requestId: string) =>
      client.ask(token, 'trigger_dag_run', { dag_id: 'daily', conf: { a: 1 } }, requestId);
    const [one, two, three] = [await ask('1'), await ask('1'), await ask('2')];
    expect([one, two, three]).toMatchObject([{ run_id: 'made 1' }, { run_id: 'made 1' }, { run_id: 'made 2' }]);
    expect(triggered).toHaveLength(2);
    expect(triggered[0]).toMatchObject({
      tenantId: attempt.tenantId,
      dagId: 'daily',
      conf: { a: 1 },
      by: { dagId: 'daily', runId: attempt.runId, taskId: 'first' },
    });
  });

  it('that could not be made is tried again when the call is repeated', async () => {
    const { token } = await running();
    answer = () => ({ kind: 'no_such_dag' });
    expect(await client.refusedAsk(token, 'trigger_dag_run', { dag_id: 'daily' })).toBe('NOT_FOUND');
    answer = () => made('at last');
    expect(await client.ask(token, 'trigger_dag_run', { dag_id: 'daily' })).toMatchObject({ run_id: 'at last' });
  });

  it('that this attempt made before the control plane forgot it counts as made; anybody else’s is a conflict', async () => {
    const { token, attempt } = await running();
    answer = () => ({ kind: 'duplicate', what: 'dag_run_id' });
    const scoped = harness.db.tenant(attempt.tenantId);
    const ask = (runId: string, conf: object) =>
      client.answer(token, 'trigger_dag_run', { dag_id: 'daily', run_id: runId, conf }, crypto.randomUUID());
    const conf = JSON.stringify({ b: [1], a: 1 });
    await insertRun(scoped, { dagId: 'daily', runId: 'mine', triggered_by: 'operator', conf });
    expect(await ask('mine', { a: 1, b: [1] })).toContain('"run_id":"mine"');
    expect(await ask('mine', { a: 2 })).toBe('ALREADY_EXISTS');
    await insertRun(scoped, { dagId: 'daily', runId: 'by a user', triggered_by: 'rest_api' });
    expect(await ask('by a user', {})).toBe('ALREADY_EXISTS');
    const before = '2020-01-01T00:00:00Z';
    await insertRun(scoped, { dagId: 'daily', runId: 'old', triggered_by: 'operator', created_at: before });
    expect(await ask('old', {})).toBe('ALREADY_EXISTS');
  });

  it('of a paused DAG is refused when the task asks for that', async () => {
    const { token } = await running();
    answer = () => made('paused');
    const params = { dag_id: 'daily', fail_when_dag_is_paused: true };
    expect(await client.answer(token, 'trigger_dag_run', params)).toBe('INVALID_ARGUMENT');
  });
});
