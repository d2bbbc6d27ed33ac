/** The cells of the grid: what a mapped task or a group with many states looks like as one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { insertRun } from '@svc/testing/engine/run-rows.ts';
import { sampleDag } from '@svc/testing/engine/sample-dag.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const GRAPH: Graph = {
  dagId: 'cells',
  tasks: {
    plain: { displayName: 'A plain one' },
    each: { after: ['plain'], over: 3 },
    'group.first': { group: 'group' },
    'group.second': { group: 'group' },
    'many.inner': { group: 'many' },
  },
  mappedGroups: { many: 2 },
};

type Cell = {
  task_id: string;
  state: string | null;
  child_states: Record<string, number> | null;
  has_note: boolean;
};
type Line = { run_id: string; task_instances: Cell[] };

let server: TestServer;
let token: string;
let tenant: ReturnType<TestServer['db']['tenant']>;
beforeAll(async () => {
  // A scheduler would find the attempts of these rows silent.
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  tenant = server.db.tenant(id);
  await registerGraph(tenant, GRAPH);
});
afterAll(() => server?.close());

async function linesOf(runIds: readonly string[]): Promise<Line[]> {
  const query = runIds.map((id) => `run_ids=${encodeURIComponent(id)}`).join('&');
  const { status, text, headers } = await server.call(`/ui/grid/ti_summaries/cells?${query}`, { token });
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  // The reader of the UI throws away a last line without its end.
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

const run = (runId: string, states: Parameters<typeof insertGraphRun>[1]['states']) =>
  insertGraphRun(tenant, { graph: GRAPH, runId, states });

const cellOf = (line: Line | undefined, id: string): Cell | undefined =>
  line?.task_instances.find((cell) => cell.task_id === id);

describe('a cell of the grid', () => {
  it('of a plain task has its state and no counts', async () => {
    await run('plain', { plain: 'running' });
    const [line] = await linesOf(['plain']);
    expect(cellOf(line, 'plain')).toEqual({
      task_id: 'plain',
      task_display_name: 'A plain one',
      state: 'running',
      child_states: null,
      min_start_date: '2026-01-02T03:04:05.000006Z',
      max_end_date: null,
      dag_version_number: 1,
      has_note: false,
    });
  });

  it('of a run that has ended shows a note written later, although lines of ended runs are kept', async () => {
    await run('noted', { plain: 'success' });
    const before = await linesOf(['noted']);
    const path = '/api/v2/dags/cells/dagRuns/noted/taskInstances/plain';
    const answer = await server.call(path, { method: 'PATCH', token, body: { note: 'look here' } });
    const after = await linesOf(['noted']);
    expect([before, after].map(([line]) => cellOf(line, 'plain')?.has_note)).toEqual([false, true]);
    expect(answer.status).toBe(200);
  });

  it('of a mapped task counts its instances, and has the state that asks most for attention', async () => {
    await run('mapped', { plain: 'success', each: ['success', 'failed', null] });
    const [line] = await linesOf(['mapped']);
    expect(cellOf(line, 'each')).toMatchObject({ state: 'failed', child_states: { success: 1, failed: 1, None: 1 } });
  });

  it('of a mapped task that is not expanded yet is one of a mapped task all the same', async () => {
    await run('not expanded', { plain: 'running', each: null });
    const [line] = await linesOf(['not expanded']);
    expect(cellOf(line, 'each')).toMatchObject({ state: null, child_states: { None: 1 } });
  });

  it('of a group counts the tasks in it; of a mapped group, the instances of its tasks', async () => {
    await run('groups', { 'group.first': 'success', 'group.second': 'running', 'many.inner': ['success', 'skipped'] });
    const [line] = await linesOf(['groups']);
    expect(cellOf(line, 'group')).toMatchObject({ state: 'running', child_states: { success: 1, running: 1 } });
    expect(cellOf(line, 'many')).toMatchObject({ state: 'success', child_states: { success: 1, skipped: 1 } });
    expect(cellOf(line, 'many.inner')).toMatchObject({ child_states: { success: 1, skipped: 1 } });
  });

  it.each([
    [['success', 'skipped'], 'success'],
    [['success', null], null],
    [['running', 'queued'], 'queued'],
    [['upstream_failed', 'failed'], 'failed'],
    [['up_for_retry', 'running'], 'up_for_retry'],
    [['skipped', 'removed'], 'skipped'],
  ] as const)('of states %j is %s', async (states, expected) => {
    const runId = `rule ${states.join()}`;
    await run(runId, { each: [...states] });
    const [line] = await linesOf([runId]);
    expect(cellOf(line, 'each')?.state).toBe(expected);
  });
});

describe('lines of the grid', () => {
  it('come in the order asked for; a run that is not there, or has nothing, has none', async () => {
    await run('one', { plain: 'success' });
    await run('two', { plain: 'success' });
    await run('empty', {});
    expect((await linesOf(['two', 'unknown', 'empty', 'one'])).map((line) => line.run_id)).toEqual(['two', 'one']);
    expect(await linesOf(['unknown'])).toEqual([]);
  });

  it('of a run that has ended change with it, whoever asked for them before', async () => {
    await run('ended', { plain: 'success', each: ['success', 'failed'], 'group.first': 'success' });
    await tenant.updateTable('dag_runs').set({ state: 'failed' }).where('run_id', '=', 'ended').execute();
    const statesOf = async (): Promise<unknown> => {
      const [line] = await linesOf(['ended']);
      return Object.fromEntries((line?.task_instances ?? []).map((cell) => [cell.task_id, cell.state]));
    };
    const before = { plain: 'success', each: 'failed', 'group.first': 'success', group: 'success' };
    expect([await statesOf(), await statesOf()]).toEqual([before, before]);
    const task = '/api/v2/dags/cells/dagRuns/ended/taskInstances/plain';
    const edited = await server.call(task, { method: 'PATCH', token, body: { new_state: 'failed' } });
    expect(edited.status, edited.text).toBe(200);
    expect(await statesOf()).toMatchObject({ plain: 'failed', 'group.first': 'success' });
    const body = {
      dry_run: false,
      dag_run_id: 'ended',
      task_ids: ['group.first'],
      only_failed: false,
      reset_dag_runs: false,
    };
    const cleared = await server.call('/api/v2/dags/cells/clearTaskInstances', { method: 'POST', token, body });
    expect(cleared.status, cleared.text).toBe(200);
    expect(await statesOf()).toMatchObject({ plain: 'failed', 'group.first': expect.not.stringMatching('success') });
  });

  it('asked for twice come once', async () => {
    await run('twice', { plain: 'success' });
    expect((await linesOf(['twice', 'twice'])).map((line) => line.run_id)).toEqual(['twice']);
  });

  it('of an unknown DAG are an error before they begin', async () => {
    expect((await server.call('/ui/grid/ti_summaries/nobody?run_ids=x', { token })).status).toBe(404);
  });
});

describe('rows of the grid', () => {
  it('that only older versions had stay for the runs that used them', async () => {
    const graph = { ...GRAPH, dagId: 'grown' };
    await registerGraph(tenant, graph);
    await insertGraphRun(tenant, { graph, runId: 'old', states: { plain: 'success' } });
    await registerGraph(tenant, { dagId: 'grown', tasks: { renamed: {}, 'group.third': { group: 'group' } } });
    type Row = { id: string; children: Row[] | null };
    const rows = (await server.call('/ui/grid/structure/grown', { token })).json<Row[]>();
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(['renamed', 'plain', 'each', 'group', 'many']));
    const group = rows.find(({ id }) => id === 'group');
    expect(group?.children?.map(({ id }) => id)).toEqual(['group.third', 'group.first', 'group.second']);
    // A list in a task would make a group of it.
    expect(rows.find(({ id }) => id === 'plain')?.children).toBeNull();
  });
});

describe('a column of the grid', () => {
  it('says that a run has missed a deadline of its DAG, whether it has ended or not', async () => {
    const spec = sampleDag({ dagId: 'due', taskId: 'task', text: 'x' }) as { dag: object };
    const deadline = { reference: 'dagrun_queued_at', reference_arguments: {}, interval: 60, callback: null };
    const body = { spec: { ...spec, dag: { ...spec.dag, deadlines: [deadline] } } };
    const registered = await server.call('/api/v2/dags/due/dagVersions', { method: 'POST', token, body });
    expect(registered.status, registered.text).toBe(201);
    const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
    await insertRun(tenant, { dagId: 'due', runId: 'in time', state: 'success', queued_at: at(0), end_date: at(1) });
    await insertRun(tenant, { dagId: 'due', runId: 'late', state: 'success', queued_at: at(0), end_date: at(2) });
    await insertRun(tenant, { dagId: 'due', runId: 'still', state: 'running', queued_at: at(0) });
    const columns = (await server.call('/ui/grid/runs/due', { token })).json<
      { run_id: string; has_missed_deadline: boolean }[]
    >();
    expect(Object.fromEntries(columns.map((column) => [column.run_id, column.has_missed_deadline]))).toEqual({
      'in time': false,
      late: true,
      still: true,
    });
  });

  it('knows the deadlines that were made with the run, whatever they count from', async () => {
    const spec = sampleDag({ dagId: 'average', taskId: 'task', text: 'x' }) as { dag: object };
    const alerts = ['fixed_datetime', 'average_runtime', 'dagrun_logical_date'].map((reference) => ({
      reference,
      reference_arguments: {},
      interval: 60,
      callback: null,
    }));
    const body = { spec: { ...spec, dag: { ...spec.dag, deadlines: alerts } } };
    const registered = await server.call('/api/v2/dags/average/dagVersions', { method: 'POST', token, body });
    expect(registered.status, registered.text).toBe(201);
    const run = await insertRun(tenant, { dagId: 'average', runId: 'one', state: 'success', end_date: '2026-01-01' });
    const made = { run, dag_id: 'average' };
    await tenant
      .insertInto('deadlines')
      .values([
        { ...made, position: 0, deadline_time: '2025-12-31T00:00:00Z', kept_at: '2025-12-31T00:00:00Z' },
        { ...made, position: 1, deadline_time: '2026-01-02T00:00:00Z', missed_at: '2026-01-02T00:00:00Z' },
      ])
      .execute();
    const path = '/ui/dags/average/dagRuns/one/deadlines';
    const { deadlines } = (await server.call(path, { token })).json<{ deadlines: object[] }>();
    expect(deadlines).toMatchObject([
      { deadline_time: '2025-12-31T00:00:00.000000Z', missed: false },
      { deadline_time: '2026-01-02T00:00:00.000000Z', missed: true },
    ]);
    const all = await server.call('/ui/dags/~/dagRuns/~/deadlines', { token });
    expect(all.json<{ total_entries: number }>().total_entries).toBe(2);
    const listed = async (query: string) =>
      (await server.call(`/ui/dags/average/dagRuns/~/deadlines?${query}`, { token })).json<{ deadlines: object[] }>();
    const { deadline_alerts: defined } = (
      await server.call('/ui/dags/average/deadlineAlerts?order_by=name', { token })
    ).json<{ deadline_alerts: { id: string }[] }>();
    expect(defined).toMatchObject([
      { reference_type: 'FixedDatetimeDeadline', interval: 60 },
      { reference_type: 'AverageRuntimeDeadline', interval: 60 },
      { reference_type: 'DagRunLogicalDateDeadline', interval: 60 },
    ]);
    // The list of many runs says the same as the list of one.
    expect((await listed('')).deadlines).toEqual(deadlines);
    for (const [query, position] of [
      ['missed=true', 1],
      ['missed=false', 0],
      ['deadline_time_lt=2026-01-01T00:00:00Z', 0],
      ['last_updated_at_gt=2026-01-01T00:00:00Z&missed=true', 1],
    ] as const) {
      const ofOne = (await server.call(`${path}?${query}`, { token })).json<{ deadlines: object[] }>();
      expect(ofOne.deadlines).toMatchObject([{ dag_run_id: 'one', alert_id: defined[position]?.id }]);
      expect((await listed(query)).deadlines).toEqual(ofOne.deadlines);
    }
    const [column] = (await server.call('/ui/grid/runs/average', { token })).json<{ has_missed_deadline: boolean }[]>();
    expect(column?.has_missed_deadline).toBe(true);
  });
});
