import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTokenSigner } from '../auth/tokens.ts';
import { DatabaseUnavailableError } from '../db/outage.ts';
import type { AgentService } from './agent-service.ts';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';

const DAG = `
from airflow.sdk import dag, task, task_group

@dag(schedule=None, params={"size": 3})
def flow():
    @task
    def extract():
        return [1, 2]

    @task(retries=2)
    def load(rows, more):
        pass

    @task
    def each(row):
        return row

    rows = extract()
    load(rows, each.expand(row=rows))

flow()
`;

let harness: AgentHarness;
let service: AgentService;
let client: AgentTestClient;

beforeAll(async () => {
  harness = await startAgentHarness();
  for (const tenant of Object.values(harness.tenants)) await harness.addDag(tenant, 'flow.py', DAG);
  service = await harness.startService();
  client = connectAgentClient(harness.address());
});

afterAll(async () => {
  client?.close();
  await harness?.close();
});

const queued = (taskId: string, tenantId = harness.tenants.a): Promise<QueuedAttempt> =>
  harness.queue({ dagId: 'flow', taskId, tenantId });

async function started(taskId: string, tenantId?: string): Promise<{ attempt: QueuedAttempt; token: string }> {
  const attempt = await queued(taskId, tenantId);
  const token = await harness.token(attempt);
  const reply = await client.call('Start', token, { hostname: 'test', pid: 1 });
  expect(reply.answer).toBe('started');
  return { attempt, token };
}

const success = { outcome_json: '{"state":"success"}', log_offset: 0, log_data: Buffer.alloc(0) };

describe('without the right credential', () => {
  const CALLS = ['Start', 'AppendLog', 'Finish', 'Call', 'GetVersion'] as const;

  it.each(CALLS)(
    '%s is refused: with none, with that of a worker or of a user, and with a forged one',
    async (method) => {
      const attempt = await queued('extract');
      const genuine = await harness.token(attempt);
      const users = createTokenSigner('test-secret-test-secret-test-secret');
      const user = await users.signUser({
        userId: crypto.randomUUID(),
        email: 'a@b',
        tenantId: attempt.tenantId,
        tenantName: 'default',
        roles: ['admin'],
        sessionId: crypto.randomUUID(),
        authTime: 1,
        expiresAt: Math.floor(Date.now() / 1_000) + 1_000,
      });
      const [head = '', body = '', signature = ''] = genuine.split('.');
      const claims = Buffer.from(body, 'base64url').toString('utf8');
      const changed = Buffer.from(claims.replace('"extract"', '"load"')).toString('base64url');
      const worker = await harness.credentials.issueWorker('w');
      for (const token of ['', 'nonsense', worker, user, `${head}.${changed}.${signature}`]) {
        expect(await client.refusal(method, token, {})).toBe('UNAUTHENTICATED');
      }
      expect(harness.attempts.recorded.some(({ attemptId }) => attemptId === attempt.attemptId)).toBe(false);
    },
  );

  it('no stream of orders is opened: not to an attempt, nor to a worker that nobody has started', async () => {
    const attempt = await harness.token(await queued('extract'));
    expect(await client.workRefusal(attempt)).toBe('UNAUTHENTICATED');
    expect(await client.workRefusal(await harness.credentials.issueWorker('stranger'))).toBe('PERMISSION_DENIED');
  });

  it('a heartbeat keeps nothing alive: each credential counts for itself', async () => {
    const { token } = await started('extract');
    const { beats } = await client.call('Heartbeat', token, { tokens: ['nonsense', token] });
    expect(beats.map(({ stop }) => stop)).toEqual([true, false]);
  });
});

describe('the credential of one attempt', () => {
  it('leads to no other attempt: only a worker goes on, and one that is not connected gets nothing new', async () => {
    const worker = await harness.credentials.issueWorker('w');
    const attempts = await Promise.all(['', 'nonsense', 'own', worker].map(() => started('extract')));
    const tokens = ['', 'nonsense', attempts[2]?.token ?? '', worker];
    for (const [index, { token }] of attempts.entries()) {
      const reply = await client.call('Finish', token, { ...success, worker_token: tokens[index] ?? '' });
      expect([reply.recorded, reply.next]).toEqual([true, null]);
    }
    expect(attempts.map(({ attempt }) => harness.attempts.workers.get(attempt.attemptId))).toEqual([
      undefined,
      undefined,
      undefined,
      { hostname: '', takesNew: false },
    ]);
  });

  it('tells that its worker takes no more before its end is recorded, so that no claim comes in between', async () => {
    const { attempt, token } = await started('extract');
    const told: unknown[] = [];
    service.observe({
      started() {},
      alive() {},
      ended: () => told.push('ended'),
      workerLeaves: (attemptId, reason) => told.push(attemptId, reason.length, harness.attempts.workers.has(attemptId)),
    });
    await client.call('Finish', token, { ...success, drain_reason: 'x'.repeat(1_000) });
    expect(told).toEqual([attempt.attemptId, 300, false, 'ended']);
  });

  it('gives back what a leaving worker has not begun: nothing of its outcome counts', async () => {
    const { attempt, token } = await started('extract');
    const request = { ...success, drain_reason: 'a task left 1 running process', not_begun: true };
    expect(await client.call('Finish', token, request)).toMatchObject({ recorded: true, next: null });
    const lost = harness.attempts.losses.find(({ attemptId }) => attemptId === attempt.attemptId);
    expect(lost).toMatchObject({ hasBegun: false, failure: { cause: 'agent_lost' } });
    expect(harness.attempts.recorded.some(({ attemptId }) => attemptId === attempt.attemptId)).toBe(false);
  });

  it('cannot finish another, whatever the message says', async () => {
    const own = await started('extract');
    const other = await started('extract', harness.tenants.b);
    const outcome = {
      state: 'success',
      attemptId: other.attempt.attemptId,
      attempt_id: other.attempt.attemptId,
      tenantId: other.attempt.tenantId,
      run: other.attempt.run,
    };
    await client.call('Finish', own.token, { ...success, outcome_json: JSON.stringify(outcome) });
    const finished = harness.attempts.recorded.map(({ attemptId }) => attemptId);
    expect(finished).toContain(own.attempt.attemptId);
    expect(finished).not.toContain(other.attempt.attemptId);
  });

  it('reads no value of another tenant, although ids are the same', async () => {
    const theirs = await started('extract', harness.tenants.b);
    await client.ask(theirs.token, 'set_xcom', { key: 'return_value', value: 'theirs' });
    const ours = await started('load');
    const queries = [
      { task_id: 'extract', map_index: -1, key: 'return_value' },
      { task_id: 'extract', key: 'return_value', run_id: theirs.attempt.runId },
      { task_id: 'extract', key: 'return_value', dag_id: 'flow', run_id: theirs.attempt.runId },
      { task_id: 'extract', key: 'return_value', include_prior_dates: true },
      { task_id: null, map_index: null, key: 'return_value' },
    ];
    for (const query of queries) expect(await client.ask(ours.token, 'get_xcom', query)).toEqual([]);
    const read = await client.ask(theirs.token, 'get_xcom', { task_id: 'extract', key: 'return_value' });
    expect(read).toEqual([{ task_id: 'extract', map_index: -1, key: 'return_value', value: 'theirs' }]);
  });

  it('writes to the log of that attempt alone', async () => {
    const own = await started('extract');
    const other = await started('extract', harness.tenants.b);
    await client.call('AppendLog', own.token, { offset: 0, data: Buffer.from('{"event":"mine"}\n') });
    expect(await harness.logOf(own.attempt)).toEqual([{ event: 'mine' }]);
    expect(await harness.logOf(other.attempt)).toEqual([]);
  });

  it('changes nothing any more once another attempt is the current one', async () => {
    const { attempt, token } = await started('extract');
    await harness.db
      .tenant(attempt.tenantId)
      .updateTable('task_instances')
      .set({ attempt_id: crypto.randomUUID() })
      .where('run', '=', attempt.run)
      .execute();
    expect((await client.call('Start', token, { hostname: 'test', pid: 1 })).answer).toBe('stop');
    expect((await client.call('Finish', token, success)).recorded).toBe(false);
    expect(await client.refusedAsk(token, 'set_xcom', { key: 'k', value: 1 })).toBe('ABORTED');
    expect(await client.refusedAsk(token, 'delete_xcom', { key: 'k' })).toBe('ABORTED');
    expect(await client.refusedAsk(token, 'get_xcom', { task_id: 'extract' })).toBe('ABORTED');
    expect(await client.refusedAsk(token, 'trigger_dag_run', { dag_id: 'flow' })).toBe('ABORTED');
    const written = await harness.db
      .tenant(attempt.tenantId)
      .selectFrom('xcoms')
      .selectAll()
      .where('key', '=', 'k')
      .execute();
    expect(written).toEqual([]);
  });
});

it('the log of an attempt is made ready when it starts, and not while its end is waited for', async () => {
  const { attempt } = await started('extract');
  const files = (): string[] => readdirSync(harness.logFolder, { recursive: true, encoding: 'utf8' });
  await expect.poll(files).toContainEqual(expect.stringMatching(`${attempt.attemptId.slice(0, 8)}.*extract~1\\.log$`));
});

describe('a call that is made twice', () => {
  it('starts, appends and finishes once', async () => {
    const { attempt, token } = await started('extract');
    const again = await client.call('Start', token, { hostname: 'test', pid: 1 });
    expect(again.started?.job_json).toContain(attempt.attemptId);
    const line = Buffer.from('{"event":"one"}\n');
    for (let time = 0; time < 3; time += 1) {
      expect(await client.call('AppendLog', token, { offset: 0, data: line })).toEqual({ length: line.length });
    }
    const last = { ...success, log_offset: line.length, log_data: Buffer.from('{"event":"two"}\n') };
    expect((await client.call('Finish', token, last)).recorded).toBe(true);
    expect((await client.call('Finish', token, last)).recorded).toBe(false);
    expect((await harness.logOf(attempt)).map(({ event }) => event)).toEqual(['one', 'two']);
  });

  it('that appends to a log after a gap is answered where to go on, and nothing is written over', async () => {
    const { attempt, token } = await started('extract');
    expect(await client.call('AppendLog', token, { offset: 100, data: Buffer.from('x\n') })).toEqual({ length: 0 });
    expect(await harness.logOf(attempt)).toEqual([]);
  });
});

describe('the outcome an agent reports', () => {
  const refused = async (outcome: object): Promise<string> => {
    const { token } = await started('extract');
    return client.refusal('Finish', token, { ...success, outcome_json: JSON.stringify(outcome) });
  };

  it.each(['agent_lost', 'marked_failed', 'run_timed_out', 'credential_expired', 'made up', 'constructor', 7])(
    'with the cause %j, which only the control plane can have seen, is refused',
    async (cause) => {
      expect(await refused({ state: 'failed', failure: { cause } })).toBe('INVALID_ARGUMENT');
    },
  );

  it.each([
    {},
    { state: 'running' },
    { state: 'reschedule' },
    { state: 'success', xcoms: [{ key: '', value: '1' }] },
    { state: 'success', xcoms: [{ key: 'k', value: 'not json' }] },
    { state: 'success', skips: [1] },
    { state: 'success', endedAt: 'yesterday' },
    { state: 'success', assetEvents: [{}] },
  ])('that is malformed is refused: %j', async (outcome) => {
    expect(await refused(outcome)).toBe('INVALID_ARGUMENT');
  });

  it.each([0, -1, 1.5, 2 ** 31, '7', null])('with a process id that cannot be, %j, goes without', async (pid) => {
    const { attempt, token } = await started('extract');
    const outcome_json = JSON.stringify({ state: 'success', pid });
    await client.call('Finish', token, { ...success, outcome_json });
    expect(await harness.attempts.ended(attempt.attemptId)).toEqual({ state: 'success' });
  });

  it('with a value over xcom.max_bytes is a failure that says so', async () => {
    const { attempt, token } = await started('extract');
    const value = JSON.stringify('x'.repeat(1_048_576));
    const outcome = { state: 'success', xcoms: [{ key: 'big', value }] };
    await client.call('Finish', token, { ...success, outcome_json: JSON.stringify(outcome) });
    expect(await harness.attempts.ended(attempt.attemptId)).toMatchObject({
      state: 'failed',
      failure: { cause: 'xcom_too_large', text: expect.stringContaining('big') },
    });
  });
});

describe('what a starting attempt is told', () => {
  it('is its run, its params, values of its upstream tasks as they were written, and lengths of mapped ones', async () => {
    const first = await started('extract');
    await client.call('Call', first.token, {
      method: 'set_xcom',
      params_json: '{"key": "return_value", "value": [1.0, 12345678901234567890]}',
      request_id: '1',
    });
    const { run: key, runId } = first.attempt;
    for (const mapIndex of [0, 1])
      await harness.queue({ dagId: 'flow', taskId: 'each', run: { key, runId }, mapIndex });
    const scoped = harness.db.tenant(harness.tenants.a);
    const conf = JSON.stringify({ size: 5, other: true });
    await scoped
      .updateTable('dag_runs')
      .set({ conf, logical_date: '2026-03-01T00:00:00Z' })
      .where('id', '=', key)
      .execute();
    const attempt = await harness.queue({ dagId: 'flow', taskId: 'load', run: { key, runId }, maxTries: 2 });
    const reply = await client.call('Start', await harness.token(attempt), { hostname: 'h', pid: 0 });
    const json = reply.started?.job_json ?? '';
    expect(json).toContain('"value":[1.0, 12345678901234567890]');
    expect(JSON.parse(json)).toMatchObject({
      kind: 'task',
      attempt_id: attempt.attemptId,
      task_id: 'load',
      map_index: -1,
      run: { run_id: runId, logical_date: expect.stringMatching(/^2026-03-01T00:00:00/) },
      params: { size: 5, other: true },
      prefetched: ['extract'],
      upstream_lengths: { each: 2 },
      expanded: null,
      retry_on_failure: true,
      mapped_over: false,
    });
  });

  it('of a mapped task is how many instances there are, and whether others are expanded over it', async () => {
    const { attempt, token } = await started('extract');
    expect(
      JSON.parse((await client.call('Start', token, { hostname: 'h', pid: 0 })).started?.job_json ?? ''),
    ).toMatchObject({
      mapped_over: true,
      retry_on_failure: false,
    });
    const run = { key: attempt.run, runId: attempt.runId };
    const instances = await Promise.all(
      [0, 1, 2].map((mapIndex) => harness.queue({ dagId: 'flow', taskId: 'each', run, mapIndex })),
    );
    for (const instance of instances) {
      const reply = await client.call('Start', await harness.token(instance), { hostname: 'h', pid: 0 });
      expect(JSON.parse(reply.started?.job_json ?? '')).toMatchObject({ expanded: { length: 3 } });
    }
  });

  it('is the last successful run before its own, and no later or failed one', async () => {
    const scoped = harness.db.tenant(harness.tenants.a);
    const runs = [
      ['2026-04-01', 'success'],
      ['2026-04-02', 'success'],
      ['2026-04-03', 'failed'],
      ['2026-04-04', 'running'],
      ['2026-04-05', 'success'],
    ] as const;
    for (const [day, state] of runs) {
      const attempt = await queued('extract');
      const values = { state, logical_date: day, start_date: `${day}T01:00:00Z`, end_date: `${day}T02:00:00Z` };
      await scoped.updateTable('dag_runs').set(values).where('id', '=', attempt.run).execute();
      if (state !== 'running') continue;
      const reply = await client.call('Start', await harness.token(attempt), { hostname: 'h', pid: 0 });
      const { previous } = JSON.parse(reply.started?.job_json ?? '') as { previous: Record<string, string> };
      expect(previous['start_date_success']).toMatch(/^2026-04-02T01:00:00/);
    }
  });

  describe('of a DAG that stages files', () => {
    const HERE = DAG.replace('def flow()', 'def staged()').replace(/flow\(\)\s*$/, 'staged()\n');
    beforeAll(() =>
      harness.addDag(harness.tenants.a, 'staged.py', HERE, (spec) => {
        spec.project = { staging: { enabled: true } };
        for (const task of spec.tasks)
          task.env = { SVC_STAGING_DIR: '/elsewhere', SVC_SECRETS_BACKEND: 'a.Thief', OWN: '1' };
      }),
    );
    afterEach(() => service.stageFilesWith(() => undefined));

    const start = async (dagId: string) => {
      const attempt = await harness.queue({ dagId, taskId: 'extract' });
      const reply = await client.call('Start', await harness.token(attempt), { hostname: 'h', pid: 0 });
      const { env } = JSON.parse(reply.started?.job_json ?? '{}') as { env?: Record<string, string> };
      return { attempt, reply, env };
    };

    it('is where they are, whatever svc.yaml says, and no word of it where none are', async () => {
      const asked: number[] = [];
      service.stageFilesWith(({ run }) => {
        asked.push(run);
        return `/files/${run}`;
      });
      const { attempt, env } = await start('staged');
      expect(env?.['SVC_STAGING_DIR']).toBe(`/files/${attempt.run}`);
      expect((await start('flow')).env).not.toHaveProperty('SVC_STAGING_DIR');
      expect(asked).toEqual([attempt.run]);
    });

    it('is nothing where the agent knows it by itself', async () => {
      const { env = {} } = await start('staged');
      expect(env).toHaveProperty('OWN', '1');
      // Nothing of an author's is named as what the platform sets, however the version was registered.
      expect(Object.keys(env).filter((name) => name.startsWith('SVC_'))).toEqual(['SVC_ATTEMPT']);
    });

    it('is why there is no place for them, and the attempt has failed', async () => {
      service.stageFilesWith(() => {
        throw new Error('the disk is full');
      });
      const { attempt, reply } = await start('staged');
      expect(reply.stop?.reason).toBe('the disk is full');
      const failure = { cause: 'dispatch_failed', text: 'the disk is full' };
      expect(await harness.attempts.ended(attempt.attemptId)).toMatchObject({ state: 'failed', failure });
    });
  });

  it('of a task that its version does not have is to stop, and the attempt has failed', async () => {
    const attempt = await queued('nowhere');
    const reply = await client.call('Start', await harness.token(attempt), { hostname: 'h', pid: 0 });
    expect(reply.stop?.reason).toContain('has no task nowhere');
    expect(await harness.attempts.ended(attempt.attemptId)).toMatchObject({ failure: { cause: 'dispatch_failed' } });
  });
});

describe('a database that is away', () => {
  it('is answered as something that passes, so that agents come back', async () => {
    const attempt = await queued('extract');
    harness.attempts.loseAnswers.start = 1;
    const token = await harness.token(attempt);
    expect(await client.refusal('Start', token, { hostname: 'h', pid: 0 })).toBe('UNAVAILABLE');
    expect((await client.call('Start', token, { hostname: 'h', pid: 0 })).answer).toBe('started');
  });

  it('fails the end of an attempt and the last lines of its log, in any order, and never the process', async () => {
    const token = await harness.token(await queued('extract'));
    const { attempts, db } = harness;
    const [finish, tenant] = [attempts.finishAndTakeNext, db.tenant];
    const away = new DatabaseUnavailableError(new Error('away'), true);
    // The transaction fails first, and nobody waits for the lines any more when they fail, too.
    const failed = Promise.withResolvers<void>();
    attempts.finishAndTakeNext = () => Promise.reject(away);
    db.tenant = () => {
      failed.resolve();
      throw away;
    };
    const request = {
      outcome_json: '{"state":"success"}',
      log_offset: 0,
      log_data: Buffer.from('last\n'),
      worker_token: '',
    };
    try {
      expect(await client.refusal('Finish', token, request)).toBe('UNAVAILABLE');
      await failed.promise;
    } finally {
      attempts.finishAndTakeNext = finish;
      db.tenant = tenant;
    }
    expect((await client.call('Start', token, { hostname: 'h', pid: 0 })).answer).toBe('started');
  });
});
