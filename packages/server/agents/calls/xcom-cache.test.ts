import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness } from '@svc/testing/agents/agent-harness.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startRedis } from '@svc/testing/services/redis.ts';
import type { TestRedis } from '@svc/testing/services/redis.ts';
import { openRedis } from '../../redis/redis.ts';
import type { Redis } from '../../redis/redis.ts';
import { createValueCache } from '../../xcom/value-cache.ts';
import type { ValueCache } from '../../xcom/value-cache.ts';

const DAG = `
from airflow.sdk import dag, task

@dag(schedule=None)
def values():
    @task
    def extract():
        pass

    extract()

values()
`;

let server: TestRedis;
let redis: Redis;
let cache: ValueCache;
let harness: AgentHarness;
let client: AgentTestClient;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis({
    settings: { url: server.url(), caFile: '', answerWithinMs: 10_000 },
    log: { info: () => {}, warn: () => {} },
  });
  cache = createValueCache(redis);
  harness = await startAgentHarness({}, { valueCache: cache });
  await harness.addDag(harness.tenants.a, 'values.py', DAG);
  await harness.startService();
  client = connectAgentClient(harness.address());
  await eventually(isUp);
});
afterAll(async () => {
  client?.close();
  await harness?.close();
  redis?.close();
  await server?.close();
});

const isUp = () => expect(redis.isUp()).toBe(true);
const large = (text: string): string => text.padEnd(300_000, '.');
const inRedis = (keys = server.keys()): string[] =>
  keys.length === 0 ? [] : server.cli('MGET', ...keys).split('\n').map((text) => JSON.parse(text) as string); // prettier-ignore

async function startedTask() {
  const attempt = await harness.queue({ dagId: 'values', taskId: 'extract' });
  const token = await harness.token(attempt);
  await client.call('Start', token, { hostname: 'here', pid: 1 });
  return { attempt, token };
}

it('what a task pushes is in Redis when it is committed, and pulled from there; small values never are', async () => {
  const { token } = await startedTask();
  const pull = async (key: string) =>
    (await client.ask<{ value: string }[]>(token, 'get_xcom', { task_id: 'extract', key })).map(({ value }) => value);
  await client.ask(token, 'set_xcom', { key: 'small', value: 'small' });
  await client.ask(token, 'set_xcom', { key: 'k', value: large('one') });
  await eventually(() => expect(inRedis()).toEqual([large('one')]));
  expect([await pull('k'), await pull('small')]).toEqual([[large('one')], ['small']]);
  expect(cache.reads()).toEqual({ hits: 1, misses: 0, unavailable: 0 });
  await client.ask(token, 'set_xcom', { key: 'k', value: large('two') });
  expect(await pull('k')).toEqual([large('two')]);
  await client.ask(token, 'delete_xcom', { key: 'k' });
  expect(await pull('k')).toEqual([]);
});

it('what a task that is over pushes is not, and what it returns with its end has the version Redis knows it by', async () => {
  server.cli('FLUSHALL');
  const { attempt, token } = await startedTask();
  const outcome = { state: 'success', xcoms: [{ key: 'return_value', value: JSON.stringify(large('returned')) }] };
  const finish = { outcome_json: JSON.stringify(outcome), log_offset: 0, log_data: Buffer.alloc(0) };
  expect((await client.call('Finish', token, finish)).recorded).toBe(true);
  await eventually(() => expect(inRedis()).toEqual([large('returned')]));
  const [key = ''] = server.keys();
  const version = key.replace(`svc:xcom:${attempt.tenantId}:`, '');
  expect(await harness.attempts.ended(attempt.attemptId)).toMatchObject({ xcoms: [{ version }] });
  expect(await client.refusedAsk(token, 'set_xcom', { key: 'late', value: large('late') })).toBe('ABORTED');
  expect(inRedis()).toEqual([large('returned')]);
});
