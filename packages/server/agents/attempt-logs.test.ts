import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness } from '@svc/testing/agents/agent-harness.ts';
import { DatabaseUnavailableError } from '../db/outage.ts';
import { createAttemptNotes } from './attempt-notes.ts';

const DAG = `
from airflow.sdk import dag, task

@dag(dag_id="flow", schedule=None)
def flow():
    @task
    def extract(): ...
    extract()

flow()
`;

let harness: AgentHarness;
let client: AgentTestClient;
/** What the store of logs answers instead of taking lines. */
let trouble: Error | undefined;

beforeAll(async () => {
  harness = await startAgentHarness({ notesInLogs: true }, {}, (store) => ({
    append: (...args) => (trouble ? Promise.reject(trouble) : store.append(...args)),
    size: store.size,
  }));
  await harness.addDag(harness.tenants.a, 'flow.py', DAG);
  await harness.startService();
  client = connectAgentClient(harness.address());
});

afterAll(async () => {
  client?.close();
  await harness?.close();
});

const queued = () => harness.queue({ dagId: 'flow', taskId: 'extract' });
const lineOf = (event: string): Buffer => Buffer.from(`${JSON.stringify({ event })}\n`);

it('begins behind what was said of pods that did not start', async () => {
  const attempt = await queued();
  const { runId: _runId, queue: _queue, ...identity } = attempt;
  const note = createAttemptNotes(harness);
  await note({ kind: 'task', ...identity }, 'The pod could not be started', 'warning');
  const token = await harness.token(attempt);
  const { started } = await client.call('Start', token, { hostname: 'test', pid: 1 });
  const data = lineOf('begin');
  await client.call('AppendLog', token, { offset: started?.log_offset ?? -1, data });
  expect((await harness.logOf(attempt)).map(({ event }) => event)).toEqual(['The pod could not be started', 'begin']);
});

it('is closed to an attempt whose try goes on: the next one writes where it ended', async () => {
  const attempt = await queued();
  const token = await harness.token(attempt);
  await client.call('Start', token, { hostname: 'test', pid: 1 });
  const data = lineOf('looks');
  const outcome = JSON.stringify({ state: 'reschedule', rescheduleAt: '2099-01-01T00:00:00Z' });
  const request = { outcome_json: outcome, log_offset: 0, log_data: data, log_goes_on: true };
  expect((await client.call('Finish', token, request)).recorded).toBe(true);
  const late = { offset: data.length, data: lineOf('from an exit handler') };
  expect(await client.refusal('AppendLog', token, late)).toBe('ABORTED');
  // Another process of the control plane has not seen it end, and finds a row that says when it did.
  await harness.db
    .tenant(attempt.tenantId)
    .updateTable('task_instances')
    .set({ end_date: sql<string>`now()` })
    .where('run', '=', attempt.run)
    .execute();
  await harness.stopService();
  await harness.startService();
  client.close(); // its connection was to the one that has stopped
  client = connectAgentClient(harness.address());
  expect(await client.refusal('AppendLog', token, late)).toBe('ABORTED');
  expect((await harness.logOf(attempt)).map(({ event }) => event)).toEqual(['looks']);
});

describe('the last lines, which come with the outcome', () => {
  async function finishing() {
    const attempt = await queued();
    const token = await harness.token(attempt);
    await client.call('Start', token, { hostname: 'test', pid: 1 });
    return {
      attempt,
      token,
      request: { outcome_json: '{"state":"success"}', log_offset: 0, log_data: lineOf('last') },
    };
  }

  it('are reported again when the database was away, and the outcome with them', async () => {
    const { attempt, token, request } = await finishing();
    trouble = new DatabaseUnavailableError(new Error('gone'), true);
    expect(await client.refusal('Finish', token, request)).toBe('UNAVAILABLE');
    trouble = undefined;
    expect((await client.call('Finish', token, request)).recorded).toBe(true);
    expect((await harness.logOf(attempt)).map(({ event }) => event)).toEqual(['last']);
  });

  it('do not keep the outcome away when the log cannot be kept', async () => {
    const { token, request } = await finishing();
    trouble = new Error('the disk is full');
    expect((await client.call('Finish', token, request)).recorded).toBe(true);
    trouble = undefined;
    expect(harness.logLines.map(({ message }) => message)).toContain('the end of a log could not be stored');
  });
});
