import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import type { StartedAhead } from '../engine/shared/attempts.ts';
import type { AgentService } from './agent-service.ts';

const DAG = `
from airflow.sdk import dag, task

@dag(schedule=None)
def flow():
    @task
    def extract():
        return [1, 2]

    @task
    def load(rows):
        pass

    load(extract())

flow()
`;

const LEASE_MS = 60_000;

let harness: AgentHarness;
let service: AgentService;
let client: AgentTestClient;

beforeAll(async () => {
  harness = await startAgentHarness({}, { lease: async () => LEASE_MS });
  await harness.addDag(harness.tenants.a, 'flow.py', DAG);
  service = await harness.startService();
  client = connectAgentClient(harness.address());
});

afterAll(async () => {
  client?.close();
  await harness?.close();
});

const queued = (taskId: string): Promise<QueuedAttempt> => harness.queue({ dagId: 'flow', taskId });

describe('a start that the executor made with its order', () => {
  const early = async (): Promise<{ attempt: QueuedAttempt; token: string }> => {
    const attempt = await queued('extract');
    const { runId: _runId, queue: _queue, ...identity } = attempt;
    service.startEarly({ kind: 'task', ...identity }, { hostname: 'here' });
    return { attempt, token: await harness.token(attempt) };
  };

  it('answers the worker once, with what is left of the lease; asked again, it is started again', async () => {
    // It is kept for a second: when a busy machine comes to ask later than that there is none, and it is tried anew.
    await eventually(async () => {
      const before = harness.attempts.calls.start;
      const { token } = await early();
      const begun = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      const waited = Math.floor(performance.now() - begun); // a timer may be a moment early
      const first = await client.call('Start', token, { hostname: 'here', pid: 0 });
      expect(first.answer).toBe('started');
      expect(Number(first.started?.lease_ms)).toBeLessThanOrEqual(LEASE_MS - waited);
      expect(harness.attempts.calls.start).toBe(before + 1);
      const again = await client.call('Start', token, { hostname: 'here', pid: 0 });
      expect(harness.attempts.calls.start).toBe(before + 2);
      expect(Number(again.started?.lease_ms)).toBe(LEASE_MS);
    });
  });

  it('answers no attempt but its own', async () => {
    const [one, other] = [await early(), await queued('load')];
    const reply = await client.call('Start', await harness.token(other), { hostname: 'here', pid: 0 });
    expect(reply.started?.job_json).toContain(other.attemptId);
    expect((await client.call('Start', one.token, { hostname: 'here', pid: 0 })).answer).toBe('started');
  });

  it('that failed is made when the worker asks', async () => {
    harness.attempts.loseAnswers.start = 1;
    const { token } = await early();
    await expect.poll(() => harness.attempts.loseAnswers.start).toBeLessThan(1);
    expect((await client.call('Start', token, { hostname: 'here', pid: 0 })).answer).toBe('started');
  });
});

describe('a start that is written with the run of the attempt', () => {
  /** Its worker has the order, and nothing is stored yet. */
  async function ordered() {
    const stored = await queued('extract');
    const attempt = { ...stored, attemptId: randomUUID() };
    const { promise: started, resolve } = Promise.withResolvers<StartedAhead>();
    const { runId: _runId, queue: _queue, ...identity } = attempt;
    service.startEarly({ kind: 'task', ...identity }, { hostname: 'here', started });
    const token = await harness.token(attempt);
    async function commit(): Promise<void> {
      await harness.db
        .tenant(attempt.tenantId)
        .updateTable('task_instances')
        .set({ attempt_id: attempt.attemptId })
        .where('run', '=', attempt.run)
        .execute();
      const answer = await harness.attempts.start(attempt, { hostname: 'here', pid: null });
      if (answer.kind === 'stop') throw new Error(answer.reason);
      resolve(new Map([[attempt.attemptId, { ...answer, attempt }]]));
    }
    const ask = () => client.call('Start', token, { hostname: 'here', pid: 0 });
    return { attempt, token, ask, commit, fail: () => resolve(undefined) };
  }
  const isAnswered = (answer: Promise<unknown>): Promise<boolean> =>
    Promise.race([answer.then(() => true), new Promise<false>((resolve) => setTimeout(() => resolve(false), 50))]);

  it('is answered when it is stored, however often it was asked for, and whichever version is wanted with it', async () => {
    const { attempt, token, ask, commit } = await ordered();
    const starts = [ask(), ask()];
    const version = client.call('GetVersion', token, {});
    for (const early of [...starts, version]) expect(await isAnswered(early)).toBe(false);
    await commit();
    for (const start of starts) expect((await start).started?.job_json).toContain(attempt.attemptId);
    expect((await version).dag_id).toBe('flow');
  });

  it('is refused when it was not stored', async () => {
    const { token, ask, fail } = await ordered();
    const start = ask();
    const version = client.refusal('GetVersion', token, {});
    fail();
    expect((await start).answer).toBe('stop');
    expect(await version).toBe('ABORTED');
  });
});
