/** The state stores as running tasks use them. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { removeExpiredStates } from '../../db/task-instances/task-states.ts';

const DAG = `
from airflow.sdk import dag, task

@dag(schedule=None)
def keeper():
    @task(retries=1)
    def keeps(): ...
    keeps()

keeper()
`;

let harness: AgentHarness;
let client: AgentTestClient;

beforeAll(async () => {
  harness = await startAgentHarness({
    stateStore: { maxValueBytes: 100, maxKeys: 2, defaultRetentionMs: 86_400_000, clearOnSuccess: true },
  });
  for (const tenant of Object.values(harness.tenants)) await harness.addDag(tenant, 'keeper.py', DAG);
  await harness.startService();
  client = connectAgentClient(harness.address());
});
afterAll(async () => {
  client?.close();
  await harness?.close();
});

async function running(tenant?: string): Promise<{ attempt: QueuedAttempt; token: string }> {
  const attempt = await harness.queue({ dagId: 'keeper', taskId: 'keeps', ...(tenant && { tenant }) });
  const token = await harness.token(attempt);
  await client.call('Start', token, { hostname: 'test', pid: 1 });
  return { attempt, token };
}

const refused = (token: string, method: string, params: object): Promise<string> =>
  client.refusedText(token, method, JSON.stringify(params));

const rowsOf = (attempt: QueuedAttempt) =>
  harness.db
    .tenant(attempt.tenantId)
    .selectFrom('task_states')
    .select(['key', 'value', 'expires_at'])
    .where('run', '=', attempt.run)
    .orderBy('key')
    .execute();

describe('the state store of a task instance', () => {
  it('keeps what it was given to the digit, for the next attempt and for no other instance', async () => {
    const { attempt, token } = await running();
    const params = '{"key":"job","value":{"id":12345678901234567890,"b":1,"a":[1.0]}}';
    await client.call('Call', token, { method: 'set_task_state', params_json: params, request_id: '1' });
    const kept = await client.call('Call', token, {
      method: 'get_task_state',
      params_json: '{"key":"job"}',
      request_id: '2',
    });
    expect(kept.value_json).toBe('{"value":{"id":12345678901234567890,"b":1,"a":[1.0]}}');
    const other = await running();
    expect(await client.ask(other.token, 'get_task_state', { key: 'job' })).toBeNull();
    await client.ask(token, 'delete_task_state', { key: 'job' });
    await client.ask(token, 'delete_task_state', { key: 'job' });
    expect(await rowsOf(attempt)).toEqual([]);
  });

  it('refuses an attempt that was superseded, so that a lost worker cannot overwrite what the next one keeps', async () => {
    const { attempt, token } = await running();
    await client.ask(token, 'set_task_state', { key: 'a', value: 1 });
    await harness.db
      .tenant(attempt.tenantId)
      .updateTable('task_instances')
      .set({ attempt_id: sql`gen_random_uuid()` })
      .where('run', '=', attempt.run)
      .execute();
    for (const method of ['set_task_state', 'delete_task_state', 'clear_task_state', 'get_task_state'])
      expect(await client.refusedAsk(token, method, { key: 'a', value: 2 })).toBe('ABORTED');
    expect(await rowsOf(attempt)).toMatchObject([{ key: 'a', value: '1' }]);
  });

  it('says which limit a value or a key exceeds, and lets a known key be written when it is full', async () => {
    const { token } = await running();
    expect(await refused(token, 'set_task_state', { key: 'k', value: 'x'.repeat(99) })).toMatch(
      /has 101 bytes as JSON, more than the 100 that state_store.max_value_bytes allows/,
    );
    expect(await refused(token, 'set_task_state', { key: '', value: 1 })).toMatch(/1 to 512 characters/);
    expect(await refused(token, 'set_task_state', { key: '..', value: 1 })).toMatch(/a folder in a URL/);
    for (const key of ['a', 'b', 'a']) await client.ask(token, 'set_task_state', { key, value: key });
    expect(await refused(token, 'set_task_state', { key: 'c', value: 1 })).toMatch(
      /the task instance has 2 keys, as many as state_store.max_keys allows: delete keys/,
    );
  });

  it('forgets a value when its time has come, after the configured time or never', async () => {
    const { attempt, token } = await running();
    await client.ask(token, 'set_task_state', { key: 'over', value: 1, expires_in: 0 });
    expect(await client.ask(token, 'get_task_state', { key: 'over' })).toBeNull();
    // What has expired leaves room before it is removed.
    await client.ask(token, 'set_task_state', { key: 'always', value: 1, never_expires: true });
    await client.ask(token, 'set_task_state', { key: 'usual', value: 1 });
    const [always, over, usual] = await rowsOf(attempt);
    expect([always?.expires_at, over?.key]).toEqual([null, 'over']);
    const inDays = (Date.parse(usual?.expires_at ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(inDays)).toBe(1);
    expect(await removeExpiredStates(harness.db.shared, 10)).toBe(1);
    expect((await rowsOf(attempt)).map(({ key }) => key)).toEqual(['always', 'usual']);
  });

  it('is emptied when the task succeeds, where state_store.clear_on_success says so, and kept when it fails', async () => {
    for (const [state, left] of [
      ['failed', ['job']],
      ['success', []],
    ] as const) {
      const { attempt, token } = await running();
      await client.ask(token, 'set_task_state', { key: 'job', value: 1 });
      await client.call('Finish', token, { outcome_json: JSON.stringify({ state }), log_offset: 0 });
      expect((await rowsOf(attempt)).map(({ key }) => key)).toEqual(left);
    }
  });
});

describe('the state store of an asset', () => {
  async function addAsset(tenantId: string, name: string, uri = name): Promise<void> {
    await harness.db
      .tenant(tenantId)
      .insertInto('assets')
      .values({ name, uri, group_name: 'asset', extra: '{}' })
      .execute();
  }

  it('is shared by the tasks of a tenant, names its writer, and is fenced', async () => {
    const { attempt, token } = await running();
    await addAsset(attempt.tenantId, 'orders', 's3://orders');
    await client.ask(token, 'set_asset_state', { name: 'orders', uri: 's3://orders', key: 'mark', value: 'a' });
    const other = await running();
    expect(await client.ask(other.token, 'get_asset_state', { uri: 's3://orders', key: 'mark' })).toEqual({
      value: 'a',
    });
    await client.ask(other.token, 'set_asset_state', { name: 'orders', key: 'mark', value: 'b' });
    const [row] = await harness.db.tenant(attempt.tenantId).selectFrom('asset_states').selectAll().execute();
    expect(row).toMatchObject({ value: '"b"', updated_by: 'task', dag_id: 'keeper', task_id: 'keeps', map_index: -1 });
    await client.call('Finish', other.token, { outcome_json: '{"state":"success"}', log_offset: 0 });
    expect(await client.refusedAsk(other.token, 'clear_asset_state', { name: 'orders' })).toBe('ABORTED');
    await client.ask(token, 'clear_asset_state', { name: 'orders' });
    expect(await client.ask(token, 'get_asset_state', { name: 'orders', key: 'mark' })).toBeNull();
  });

  it('of another tenant, of an unknown name and of a name that two assets have is not found', async () => {
    const { attempt, token } = await running();
    const other = Object.values(harness.tenants).find((tenant) => tenant !== attempt.tenantId) ?? '';
    await addAsset(other, 'theirs');
    expect(await refused(token, 'set_asset_state', { name: 'theirs', key: 'k', value: 1 })).toBe(
      'NOT_FOUND: there is no asset with the name theirs',
    );
    await addAsset(attempt.tenantId, 'twin', 'x://1');
    await addAsset(attempt.tenantId, 'twin', 'x://2');
    expect(await refused(token, 'get_asset_state', { name: 'twin', key: 'k' })).toMatch(/several assets/);
    expect(await client.ask(token, 'get_asset_state', { name: 'twin', uri: 'x://2', key: 'k' })).toBeNull();
  });
});
