/** Tasks that ask people, from the question to what follows from the answer: real tasks, real agents, real answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { compileDags } from '@svc/testing/engine/compiled-dags.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

const DAGS = `
from datetime import timedelta
from airflow.sdk import DAG, Param, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import ApprovalOperator, HITLBranchOperator, HITLEntryOperator, HITLOperator

with DAG("asks", schedule=None):
    question = HITLOperator(task_id="question", subject="Which of {{ dag.dag_id }}?", body="**Choose**", options=["a", "b", "c"],
        multiple=True, params={"count": Param(1, type="integer", minimum=1)}, max_active_tis_per_dag=4)

    @task
    def follow(answer):
        return [answer["chosen_options"], answer["params_input"], answer["responded_by_user"]["name"]]

    follow(question.output)

with DAG("approves", schedule=None):
    ApprovalOperator(task_id="approval", subject="Go?") >> EmptyOperator(task_id="next") >> EmptyOperator(task_id="last", trigger_rule="all_done")

with DAG("fails", schedule=None):
    ApprovalOperator(task_id="approval", subject="Go?", fail_on_reject=True) >> EmptyOperator(task_id="next")

with DAG("branches", schedule=None):
    HITLBranchOperator(task_id="branch", subject="Where to?", options=["to the left", "right"], options_mapping={"to the left": "left"}) >> [
        EmptyOperator(task_id="left"), EmptyOperator(task_id="right")]

with DAG("defaults", schedule=None):
    HITLEntryOperator(task_id="entry", subject="Fill in", params={"name": "nobody"}, response_timeout=timedelta(seconds=1))

with DAG("unanswered", schedule=None):
    HITLOperator(task_id="question", subject="Anybody?", options=["yes"], response_timeout=timedelta(seconds=1))

with DAG("assigned", schedule=None):
    HITLOperator(task_id="question", subject="For one only", options=["yes"], assigned_users=[{"id": "one@example.com", "name": "one"}])
`;

type Detail = {
  subject: string;
  response_received: boolean;
  chosen_options: string[] | null;
  params: Record<string, { value: unknown; schema: object }>;
  task_instance: { task_id: string; state: string; try_number: number; dag_run_id: string };
};
type List = { hitl_details: Detail[]; total_entries: number };

vi.setConfig({ testTimeout: 300_000 }); // real tasks, on a machine that may be busy

let server: TestServer;
let token: string;
const folder = mkdtempSync(join(tmpdir(), 'svc-questions-'));

beforeAll(async () => {
  process.env['SVC_PYTHON'] = await pythonEnvironment(); // the agent is a child of this process and has its environment
  server = await startTestServer({ 'executor.type': 'subprocess', 'ui.airflow_version': '3.3.2' });
  token = await server.login();
  writeFileSync(join(folder, 'questions.py'), DAGS);
  for (const [dagId, spec] of await compileDags(['questions.py'], folder)) {
    await must(`/api/v2/dags/${dagId}/dagVersions`, 'POST', { spec });
    await must(`/api/v2/dags/${dagId}`, 'PATCH', { is_paused: false });
  }
}, 400_000);
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function must(path: string, method = 'GET', body?: unknown): Promise<Answer> {
  const answer = await server.call(path, { token, method, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

const until = <T>(look: () => Promise<T>) => eventually(look, { everyMs: 100, withinMs: 120_000 });

async function trigger(dagId: string): Promise<string> {
  return (await must(`/api/v2/dags/${dagId}/dagRuns`, 'POST', {})).json<{ dag_run_id: string }>().dag_run_id;
}

const listOf = async (dagId: string, runId: string, query = ''): Promise<List> =>
  (await must(`/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/hitlDetails${query}`)).json<List>();

/** A run whose question waits for an answer. */
async function asked(dagId: string): Promise<string> {
  const runId = await trigger(dagId);
  await until(async () => {
    const { total_entries: waiting } = await listOf(dagId, runId, '?state=deferred&response_received=false');
    expect(waiting).toBe(1);
  });
  return runId;
}

const path = (dagId: string, runId: string, taskId: string): string =>
  `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/-1/hitlDetails`;

const answer = (place: [string, string, string], body: unknown, as = token): Promise<Answer> =>
  server.call(path(...place), { method: 'PATCH', token: as, body });

/** States of the tasks when the run is over. */
async function ended(dagId: string, runId: string): Promise<Record<string, string>> {
  const run = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
  await until(async () => {
    expect((await must(run)).json<{ state: string }>().state).toMatch(/^(success|failed)$/);
  });
  const list = (await must(`${run}/taskInstances`)).json<{ task_instances: { task_id: string; state: string }[] }>();
  return Object.fromEntries(list.task_instances.map(({ task_id: id, state }) => [id, state]));
}

const valueOf = async (dagId: string, runId: string, taskId: string): Promise<unknown> =>
  (
    await must(
      `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`,
    )
  ).json<{ value: unknown }>().value;

describe('a question of a task to people', () => {
  it('waits without a process until it is answered; the same try goes on with the answer', async () => {
    const runId = await asked('asks');
    const place: [string, string, string] = ['asks', runId, 'question'];
    const detail = (await must(path(...place))).json<Detail>();
    expect(detail).toMatchObject({
      subject: 'Which of asks?',
      body: '**Choose**',
      options: ['a', 'b', 'c'],
      multiple: true,
      defaults: null,
      assigned_users: [],
      response_received: false,
      responded_at: null,
      params: { count: { value: 1, schema: { type: 'integer', minimum: 1 } } },
      task_instance: { task_id: 'question', state: 'awaiting_input', try_number: 1, end_date: null },
    });
    const wrong = [
      { chosen_options: ['d'] },
      { chosen_options: ['a'], params_input: { count: 0 } },
      { chosen_options: ['a'], params_input: { other: 1 } },
    ];
    for (const body of wrong) expect((await answer(place, body)).status).toBe(400);

    const given = await answer(place, { chosen_options: ['a', 'c'], params_input: { count: 3 } });
    expect(given.status).toBe(200);
    expect(given.json()).toMatchObject({
      chosen_options: ['a', 'c'],
      params_input: { count: 3 },
      responded_by: { name: ADMIN_EMAIL },
    });
    expect(await ended('asks', runId)).toEqual({ question: 'success', follow: 'success' });
    expect(await valueOf('asks', runId, 'follow')).toEqual([['a', 'c'], { count: 3 }, ADMIN_EMAIL]);
    expect((await answer(place, { chosen_options: ['b'] })).status).toBe(409);
    const closed = await listOf('asks', runId, '?response_received=true&responded_by_user_name=' + ADMIN_EMAIL);
    expect(closed.hitl_details).toMatchObject([{ chosen_options: ['a', 'c'], task_instance: { try_number: 1 } }]);
  });

  it('is asked anew when its task is cleared, and its earlier answer stays with the earlier try', async () => {
    const runId = await asked('asks');
    const place: [string, string, string] = ['asks', runId, 'question'];
    expect((await answer(place, { chosen_options: ['a'] })).status).toBe(200);
    await ended('asks', runId);
    await must('/api/v2/dags/asks/clearTaskInstances', 'POST', {
      dry_run: false,
      dag_run_id: runId,
      task_ids: ['question'],
      only_failed: false,
      include_downstream: true,
    });
    await until(async () => {
      expect((await must(path(...place))).json()).toMatchObject({
        response_received: false,
        task_instance: { state: 'awaiting_input', try_number: 2 },
      });
    });
    const first = (await must(`${path(...place)}/tries/1`)).json<Detail>();
    expect(first).toMatchObject({ chosen_options: ['a'], task_instance: { try_number: 1, state: 'success' } });
    // A task that is ended from outside asks no more.
    await must(`/api/v2/dags/asks/dagRuns/${encodeURIComponent(runId)}`, 'PATCH', { state: 'failed' });
    expect((await answer(place, { chosen_options: ['b'] })).status).toBe(409);
  });

  it('shows on the pages of the web UI while it waits, and not after', async () => {
    const pending = async (query: string) =>
      (await must(`/ui/dags?dag_ids=approves&${query}`)).json<{
        dags: { pending_actions: Detail[]; dag_id: string }[];
      }>().dags;
    const runId = await asked('approves');
    const shown = (await pending('has_pending_actions=true')).find((dag) => dag.dag_id === 'approves');
    expect(shown?.pending_actions).toMatchObject([{ subject: 'Go?', task_instance: { dag_run_id: runId } }]);
    const parked = await must('/api/v2/dags/approves/dagRuns/~/taskInstances?state=awaiting_input');
    expect(parked.json()).toMatchObject({
      task_instances: [{ task_id: 'approval', dag_run_id: runId, trigger: null, triggerer_job: null }],
    });
    const metrics = await must('/ui/dashboard/historical_metrics_data?start_date=2000-01-01T00:00:00Z');
    const { task_instance_states: counts } = metrics.json<{ task_instance_states: Record<string, number> }>();
    expect(counts).toMatchObject({ deferred: 0 });
    expect(counts['awaiting_input']).toBeGreaterThan(0);
    const grid = await must(`/ui/grid/ti_summaries/approves?run_ids=${encodeURIComponent(runId)}`);
    expect(grid.text).toContain('"state":"awaiting_input"');
    const others = await pending('has_pending_actions=false');
    expect(others.map((dag) => dag.dag_id)).not.toContain('approves');
    expect((await answer(['approves', runId, 'approval'], { chosen_options: ['Approve'] })).status).toBe(200);
    expect(await ended('approves', runId)).toEqual({ approval: 'success', next: 'success', last: 'success' });
    expect((await pending('has_pending_actions=true')).map((dag) => dag.dag_id)).not.toContain('approves');
  });

  it('for somebody is answered by nobody else', async () => {
    const runId = await asked('assigned');
    const place: [string, string, string] = ['assigned', runId, 'question'];
    expect((await answer(place, { chosen_options: ['yes'] })).status).toBe(403);
    await server.addUser({ email: 'one@example.com', roles: ['operator'] });
    await server.addUser({ email: 'looker@example.com', roles: ['viewer'] });
    const looker = await server.login('looker@example.com');
    expect((await answer(place, { chosen_options: ['yes'] }, looker)).status).toBe(403);
    const one = await server.login('one@example.com');
    expect((await answer(place, { chosen_options: ['yes'] }, one)).status).toBe(200);
    expect(await ended('assigned', runId)).toEqual({ question: 'success' });
  });
});

describe('what follows in a run that asks people,', () => {
  it('from a refusal: the next task is skipped, and trigger rules decide further on', async () => {
    const runId = await asked('approves');
    expect((await answer(['approves', runId, 'approval'], { chosen_options: ['Reject'] })).status).toBe(200);
    expect(await ended('approves', runId)).toEqual({ approval: 'success', next: 'skipped', last: 'success' });
    expect(await valueOf('approves', runId, 'approval')).toMatchObject({ chosen_options: ['Reject'] });
  });

  it('from a refusal that is to fail', async () => {
    const runId = await asked('fails');
    expect((await answer(['fails', runId, 'approval'], { chosen_options: ['Reject'] })).status).toBe(200);
    expect(await ended('fails', runId)).toEqual({ approval: 'failed', next: 'upstream_failed' });
  });

  it('from a branch: the option leads to its task', async () => {
    const runId = await asked('branches');
    expect((await answer(['branches', runId, 'branch'], { chosen_options: ['to the left'] })).status).toBe(200);
    expect(await ended('branches', runId)).toEqual({ branch: 'success', left: 'success', right: 'skipped' });
  });

  it('from silence: the defaults', async () => {
    const runId = await trigger('defaults');
    expect(await ended('defaults', runId)).toEqual({ entry: 'success' });
    expect(await valueOf('defaults', runId, 'entry')).toMatchObject({
      chosen_options: ['OK'],
      params_input: { name: 'nobody' },
      responded_by_user: null,
    });
  });

  it('from silence without defaults: a failure that says so', async () => {
    const runId = await trigger('unanswered');
    expect(await ended('unanswered', runId)).toEqual({ question: 'failed' });
    const run = `/api/v2/dags/unanswered/dagRuns/${encodeURIComponent(runId)}`;
    const instance = (await must(`${run}/taskInstances/question`)).json<{
      failure_reason: string;
      failure_detail: string;
    }>();
    expect(instance.failure_reason).toMatch(/^unanswered: /);
    expect(instance.failure_detail).toMatch(/nobody answered within 1 seconds/);
  });
});
