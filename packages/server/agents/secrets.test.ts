import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TenantDb } from '../db/database.ts';
import { createKeyring } from '../vault/keyring.ts';
import { connectionBinding, variableBinding } from '../vault/vault.ts';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { bundle } from './secret-delivery.ts';

const DAG = (dagId: string, body: string): string => `
from airflow.sdk import dag, task, Variable
from airflow.sdk.bases.hook import BaseHook

@dag(schedule=None)
def ${dagId}():
    @task
    def use():
        ${body}
    use()

${dagId}()
`;

let harness: AgentHarness;
let client: AgentTestClient;
let stop: () => Promise<void> = async () => {};

beforeAll(async () => {
  harness = await startAgentHarness();
  const { a, b } = harness.tenants;
  await harness.addDag(
    a,
    'declares.py',
    DAG('declares', 'Variable.get("declared_token"); Variable.get("later"); BaseHook.get_connection("declared_db")'),
  );
  await harness.addDag(a, 'silent.py', DAG('silent', 'pass'));
  for (const [tenant, mark] of [
    [a, 'ours'],
    [b, 'theirs'],
  ] as const) {
    await addVariable(tenant, 'declared_token', `${mark}-declared-token`);
    await addVariable(tenant, 'other', `${mark}-other`);
    await addConnection(tenant, 'declared_db', `${mark}-declared-password`);
    await addConnection(tenant, 'other_db', `${mark}-other-password`);
  }
});

afterAll(async () => {
  await stop();
  await harness?.close();
});

async function addVariable(tenantId: string, key: string, value: string): Promise<void> {
  const sealed = harness.keyring.seal(value, variableBinding(tenantId, key));
  await harness.db.tenant(tenantId).insertInto('variables').values({ key, value_sealed: sealed }).execute();
}

async function addConnection(tenantId: string, id: string, password: string): Promise<void> {
  const sealed = harness.keyring.seal(password, connectionBinding(tenantId, id, 'password'));
  const extra = harness.keyring.seal('{"api_key":"key-in-extra"}', connectionBinding(tenantId, id, 'extra'));
  const values = { connection_id: id, conn_type: 'postgres', host: 'h', password_sealed: sealed, extra_sealed: extra };
  await harness.db.tenant(tenantId).insertInto('connections').values(values).execute();
}

/** The service with these rules; the one before is stopped. */
async function withRules(rules: Parameters<AgentHarness['startService']>[0]): Promise<void> {
  await stop();
  const service = await harness.startService(rules);
  client = connectAgentClient(harness.address());
  harness.logLines.length = 0;
  stop = async () => {
    client.close();
    await service.close();
  };
}

type Job = { env: Record<string, string>; masks: string[] };

async function start(dagId: string): Promise<{ attempt: QueuedAttempt; token: string; job: Job }> {
  const attempt = await harness.queue({ dagId, taskId: 'use' });
  const token = await harness.token(attempt);
  const reply = await client.call('Start', token, { hostname: 'test', pid: 1 });
  return { attempt, token, job: JSON.parse(reply.started?.job_json ?? '') as Job };
}

const namesIn = (job: Job): string[] =>
  Object.keys(job.env)
    .filter((name) => name.startsWith('AIRFLOW_'))
    .sort();
const DECLARED = ['AIRFLOW_CONN_DECLARED_DB', 'AIRFLOW_VAR_DECLARED_TOKEN'];

describe.each([
  { scoping: 'permissive', dagId: 'declares', atStart: DECLARED, other: 'delivered', warned: true },
  { scoping: 'permissive', dagId: 'silent', atStart: [], other: 'delivered', warned: false },
  { scoping: 'enforce', dagId: 'declares', atStart: DECLARED, other: 'denied', warned: false },
  { scoping: 'enforce', dagId: 'silent', atStart: [], other: 'denied', warned: false },
  { scoping: 'off', dagId: 'declares', atStart: DECLARED, other: 'delivered', warned: false },
  { scoping: 'off', dagId: 'silent', atStart: [], other: 'delivered', warned: false },
] as const)('scoping $scoping, DAG that $dagId', ({ scoping, dagId, atStart, other, warned }) => {
  beforeEach(() => withRules({ scoping }));

  it(`an attempt gets ${atStart.length} secrets with its start, those that its DAG declares, of its own tenant`, async () => {
    const { job } = await start(dagId);
    expect(namesIn(job)).toEqual(atStart);
    expect(JSON.stringify(job)).not.toContain('theirs');
    expect(JSON.stringify(job)).not.toContain('ours-other');
    expect(JSON.stringify(harness.logLines)).not.toMatch(/ours-(declared|other)/);
  });

  it(`a secret that is not declared is ${other} when it is asked for${warned ? ', with a warning' : ''}`, async () => {
    const { token } = await start(dagId);
    const expected = (secret: string): string => (other === 'denied' ? 'PERMISSION_DENIED' : secret);
    expect(await client.answer(token, 'get_variable', { key: 'other' })).toContain(expected('ours-other'));
    expect(await client.answer(token, 'get_connection', { id: 'other_db' })).toContain(expected('ours-other-password'));
    const warnings = harness.logLines.filter(({ message }) => message.includes('a secret its DAG does not declare'));
    expect(warnings).toHaveLength(warned ? 2 : 0);
    // Whether it exists is not disclosed; and what may not be read may not be replaced either.
    expect(await client.answer(token, 'get_variable', { key: 'missing' })).toBe(expected('NOT_FOUND'));
    expect(await client.answer(token, 'set_variable', { key: 'own', value: 'x' })).toBe(expected('null'));
    expect(await client.answer(token, 'delete_variable', { key: 'own' })).toBe(expected('null'));
  });
});

describe.each([
  { livenessMode: 'observe', event: 'secret_would_be_denied', delivered: true },
  { livenessMode: 'enforce', event: 'secret_denied', delivered: false },
] as const)('auth.secret_liveness_mode $livenessMode', ({ livenessMode, event, delivered }) => {
  beforeAll(() => withRules({ livenessMode }));

  it('records and warns nothing while the attempt is running', async () => {
    const { token, attempt } = await start('declares');
    await client.ask(token, 'get_variable', { key: 'declared_token' });
    expect(await auditOf(attempt)).toEqual([]);
  });

  it(`an attempt that is over ${delivered ? 'still gets' : 'does not get'} its secret, and the audit log says so`, async () => {
    const { token, attempt } = await start('declares');
    await client.call('Finish', token, {
      outcome_json: '{"state":"success"}',
      log_offset: 0,
      log_data: Buffer.alloc(0),
    });
    const expected = (secret: string): string => (delivered ? secret : 'PERMISSION_DENIED');
    const variable = await client.answer(token, 'get_variable', { key: 'declared_token' });
    expect(variable).toContain(expected('ours-declared-token'));
    const connection = await client.answer(token, 'get_connection', { id: 'declared_db' });
    expect(connection).toContain(expected('ours-declared-password'));
    expect((await auditOf(attempt))[0]).toMatchObject({
      event,
      object_kind: 'variable',
      object_id: 'declared_token',
      dag_id: 'declares',
      task_id: 'use',
    });
    expect(harness.logLines.some(({ message }) => message.includes('an attempt that is over'))).toBe(true);
  });
});

describe('with auth.secret_liveness_mode enforce', () => {
  beforeAll(() => withRules({ livenessMode: 'enforce' }));

  it('an attempt that is over gets nothing at all: no value, no code, no log, no fresh credential, no second start', async () => {
    const { token } = await start('declares');
    const outcome = { outcome_json: '{"state":"success"}', log_offset: 0, log_data: Buffer.alloc(0) };
    await client.call('Finish', token, outcome);
    const asked: Record<string, object> = {
      get_variable: { key: 'declared_token' },
      get_connection: { id: 'declared_db' },
      set_variable: { key: 'own', value: 'x' },
      get_xcom: { task_id: 'use', key: 'return_value' },
      set_xcom: { key: 'k', value: '1' },
      delete_xcom: { key: 'k' },
      trigger_dag_run: { dag_id: 'silent' },
      report_providers: { providers: [] },
      instances_of_run: {},
      nobody_listens: {},
      answer_deadline: { position: 0, at: '2026-01-01T00:00:00Z' },
    };
    for (const [name, params] of Object.entries(asked)) {
      const answer = await client.answer(token, name, params);
      expect([name, answer]).toEqual([
        name,
        expect.stringMatching(/^(PERMISSION_DENIED|FAILED_PRECONDITION|ABORTED)$/),
      ]);
    }
    const line = { offset: 0, data: Buffer.from('late') };
    expect(await client.refusal('GetVersion', token, {})).not.toBe('OK');
    expect(await client.refusal('AppendLog', token, line)).not.toBe('OK');
    const again = await client.call('Start', token, { hostname: 'test', pid: 1 });
    expect([again.started ?? null, again.stop?.reason]).toEqual([null, expect.any(String)]);
    const { beats } = await client.call('Heartbeat', token, { tokens: [token], pids: [1] });
    expect(beats).toEqual([expect.objectContaining({ stop: true, token: '' })]);
    expect(await client.call('Finish', token, outcome)).toMatchObject({ next: null });
  });
});

const auditOf = (attempt: QueuedAttempt) =>
  harness.db
    .tenant(attempt.tenantId)
    .selectFrom('audit_log')
    .selectAll()
    .where('run_id', '=', attempt.runId)
    .orderBy('id')
    .execute();

describe('secrets delivered to an attempt', () => {
  beforeAll(() => withRules({}));

  it('come with what must not be printed: passwords, secrets in extras, variables with a sensitive name', async () => {
    const { job, token } = await start('declares');
    expect(new Set(job.masks)).toEqual(new Set(['ours-declared-token', 'ours-declared-password', 'key-in-extra']));
    const request = { method: 'get_connection', params_json: '{"id":"other_db"}', request_id: '1' };
    expect((await client.call('Call', token, request)).masks).toEqual(['ours-other-password', 'key-in-extra']);
  });

  const write = (db: TenantDb, key: string, value: string) => {
    const sealed = harness.keyring.seal(value, variableBinding(harness.tenants.a, key));
    return db.updateTable('variables').set({ value_sealed: sealed }).where('key', '=', key).execute();
  };

  it('are those of now: one that was added, changed or removed a moment ago is what the next attempt gets', async () => {
    const scoped = harness.db.tenant(harness.tenants.a);
    const delivered = async () => (await start('declares')).job.env['AIRFLOW_VAR_LATER'];
    expect(await delivered()).toBeUndefined();
    await addVariable(harness.tenants.a, 'later', 'one');
    expect(await delivered()).toBe('one');
    await write(scoped, 'later', 'two');
    expect(await delivered()).toBe('two');
    await scoped.deleteFrom('variables').where('key', '=', 'later').execute();
    expect(await delivered()).toBeUndefined();
  });

  it('are those of now although an older transaction commits after a younger one was seen', async () => {
    const scoped = harness.db.tenant(harness.tenants.a);
    await addVariable(harness.tenants.a, 'later', 'before');
    await addVariable(harness.tenants.a, 'quick', 'before');
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    const older = scoped.transaction().execute(async (trx) => {
      await write(trx, 'later', 'after');
      await seen;
    });
    await write(scoped, 'quick', 'after');
    expect((await start('declares')).job.env['AIRFLOW_VAR_LATER']).toBe('before');
    resolve();
    await older;
    expect((await start('declares')).job.env['AIRFLOW_VAR_LATER']).toBe('after');
    await scoped.deleteFrom('variables').where('key', 'in', ['later', 'quick']).execute();
  });

  it('leave out a value that no key opens: the attempt starts, and is refused that value when it asks for it', async () => {
    const scoped = harness.db.tenant(harness.tenants.a);
    const lostKey = createKeyring({ current: Buffer.alloc(32, 9), previous: [] });
    const sealed = lostKey.seal('x', variableBinding(harness.tenants.a, 'later'));
    await scoped.insertInto('variables').values({ key: 'later', value_sealed: sealed }).execute();
    const { job, token } = await start('declares');
    expect(namesIn(job)).toEqual(DECLARED);
    expect(await client.refusedAsk(token, 'get_variable', { key: 'later' })).toBe('FAILED_PRECONDITION');
    await scoped.deleteFrom('variables').where('key', '=', 'later').execute();
  });

  it('may be written by a task: variables, sealed, with an entry in the audit log that has no value in it', async () => {
    const { token, attempt } = await start('silent');
    await client.ask(token, 'set_variable', { key: 'made', value: 'by a task', description: 'd' });
    expect(await client.ask(token, 'get_variable', { key: 'made' })).toMatchObject({ value: 'by a task' });
    const row = await harness.db
      .tenant(harness.tenants.a)
      .selectFrom('variables')
      .selectAll()
      .where('key', '=', 'made')
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ value_plain: null, description: 'd' });
    await client.ask(token, 'delete_variable', { key: 'made' });
    expect(await client.refusedAsk(token, 'get_variable', { key: 'made' })).toBe('NOT_FOUND');
    const audit = await auditOf(attempt);
    expect(audit.map(({ event }) => event)).toEqual(['post_variable', 'delete_variable']);
    expect(JSON.stringify(audit)).not.toContain('by a task');
  });
});

describe('environment variables that carry secrets', () => {
  const secret = (name: string, text: string) => ({ kind: 'variable', name, text, masks: [] }) as const;

  const all = (): boolean => true;

  it('of two names that differ only in case are left out, both, also when one of them is not declared', () => {
    const vault = [secret('Key', 'a'), secret('KEY', 'b'), secret('x', 'c'), secret('y', 'd')];
    expect(bundle(vault, all).env).toEqual({ AIRFLOW_VAR_X: 'c', AIRFLOW_VAR_Y: 'd' });
    expect(bundle(vault, ({ name }) => name === 'Key' || name === 'x').env).toEqual({ AIRFLOW_VAR_X: 'c' });
  });

  it('that no program could be started with are left out: too large one by one or together, or impossible', () => {
    const large = secret('large', 'x'.repeat(40_000));
    const many = Array.from({ length: 40 }, (_, index) => secret(`v${index}`, 'x'.repeat(30_000)));
    const { env } = bundle([large, secret('a=b', 'x'), secret('nul', 'a\0b'), ...many], all);
    expect(Object.keys(env)).not.toContain('AIRFLOW_VAR_LARGE');
    expect(Object.keys(env).some((name) => name.includes('='))).toBe(false);
    expect(Object.keys(env)).not.toContain('AIRFLOW_VAR_NUL');
    expect(JSON.stringify(env).length).toBeLessThan(600_000);
  });
});
