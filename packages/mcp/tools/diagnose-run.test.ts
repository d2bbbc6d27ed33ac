import type { Client } from '@modelcontextprotocol/client';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeTask } from '@svc/testing/spec/make-spec.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, connectHttp, startToolServer } from '@svc/testing/mcp/connect.ts';
import { logLine, startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { DiagnoseRunOutput } from './diagnose-run-shapes.ts';

let world: FailedRuns;
let tools: Awaited<ReturnType<typeof startToolServer>>;
let client: Client;
beforeAll(async () => {
  world = await startFailedRuns();
  tools = await startToolServer(world.server.url);
  client = await connectHttp(tools.url, await world.server.login());
});
afterAll(async () => {
  await client?.close();
  await tools?.close();
  await world?.close();
});

const diagnose = (dagId: string, runId: string, more: object = {}) =>
  callTool<DiagnoseRunOutput>(client, 'diagnose_run', { dag_id: dagId, run_id: runId, ...more });
const failureOf = (output: DiagnoseRunOutput, taskId: string) => output.failures.find((one) => one.task_id === taskId);

const SHOP = {
  extract: [],
  transform: ['extract'],
  load: ['transform'],
  publish: ['load'],
  alarm: ['transform'],
  report: ['load', 'extract'],
};
const shopTasks = () =>
  graphOf(SHOP, (id) => ({
    policy: {
      ...(id === 'transform' && { retries: 1, retry_delay: 0 }),
      ...(id === 'alarm' && { trigger_rule: 'one_failed' as const }),
      ...(id === 'report' && { trigger_rule: 'all_done' as const }),
    },
  }));
const failing = (tryNumber: number) => ({
  state: 'failed' as const,
  failure: { cause: 'exception' as const, text: `ValueError: no rows on try ${tryNumber}` },
  log: logLine(`starting try ${tryNumber}`) + logLine(`ValueError: no rows on try ${tryNumber}`, 'error'),
});

describe('a failed run', () => {
  it('is told in one call: what failed, why, its last lines, and what waits for it in vain', async () => {
    await world.register('shop', shopTasks());
    const { runId } = await world.run('shop', { transform: failing });
    const { structured, text, isError } = await diagnose('shop', runId);
    expect(isError).toBe(false);
    expect(structured).toMatchObject({
      dag_id: 'shop',
      run_id: runId,
      state: 'failed',
      run_type: 'manual',
      version_numbers: [1],
      counts: { total: 6, failed: 1, up_for_retry: 0, upstream_failed: 2, active: 0, waiting: 0 },
      failures_not_shown: 0,
      models: [],
      waiting: [],
    });
    expect(structured.failures).toEqual([
      expect.objectContaining({
        task_id: 'transform',
        state: 'failed',
        try_number: 2,
        retries_left: 0,
        will_retry: false,
        cause: 'exception',
        cause_meaning: 'the task raised an exception',
        failure_reason: 'exception: the task raised an exception',
        failure_detail: 'ValueError: no rows on try 2',
        blocks: { total: 2, task_ids: ['load', 'publish'], note: null },
        log: {
          untrusted: true,
          earlier_errors: [],
          lines: [
            '[2026-11-15T06:31:12.123456Z] INFO - starting try 2',
            '[2026-11-15T06:31:12.123456Z] ERROR - ValueError: no rows on try 2',
          ],
          lines_left_out: 0,
          note: null,
        },
      }),
    ]);
    expect(structured.summary).toBe(
      `Run ${runId} of shop failed: 1 of 6 tasks failed: transform; 2 tasks could not run because of it.`,
    );
    expect(text.split('\n')[0]).toBe(structured.summary);
    expect(text).toContain('blocks 2 downstream: load, publish');
    expect(text).toContain('| [2026-11-15T06:31:12.123456Z] ERROR - ValueError: no rows on try 2');
  });

  it('is judged by the version it ran with, not by the newest', async () => {
    await world.register('versions', graphOf({ a: [], b: ['a'] }));
    const { runId } = await world.run('versions', { a: failing });
    await world.register('versions', graphOf({ a: [], c: ['a'], d: ['c'] }));
    const { structured } = await diagnose('versions', runId);
    expect(structured.version_numbers).toEqual([1]);
    expect(failureOf(structured, 'a')?.blocks).toEqual({ total: 1, task_ids: ['b'], note: null });
  });

  it('shows the retries that are left while they are', async () => {
    const patient = { retries: 3, retry_delay: 3_600 };
    await world.register(
      'patient',
      graphOf({ a: [], b: ['a'] }, (id) => (id === 'a' ? { policy: patient } : {})),
    );
    const { runId } = await world.run('patient', { a: failing }, { a: 'up_for_retry' });
    const { structured, text } = await diagnose('patient', runId);
    expect(structured).toMatchObject({ state: 'running', counts: { failed: 0, up_for_retry: 1, waiting: 1 } });
    expect(failureOf(structured, 'a')).toMatchObject({
      state: 'up_for_retry',
      try_number: 1,
      retries_left: 3,
      will_retry: true,
      blocks: { total: 1, task_ids: ['b'] },
    });
    expect(structured.summary).toBe(
      `Run ${runId} of patient is running: 1 of 2 tasks failed so far and will be tried again: a.`,
    );
    const nextTry = failureOf(structured, 'a')?.next_try_at ?? '';
    expect(Date.parse(nextTry) - Date.parse(failureOf(structured, 'a')?.end_date ?? '')).toBeGreaterThan(3_500_000);
    expect(text).toContain(`will be tried again at ${nextTry}, 3 retries left`);
    expect(text).toContain('- b: no state yet, "waits for upstream tasks (0 of 1 are finished)"');
  });

  it('names the transformation models that the failed log and the task name', async () => {
    const rest = { rest: { arguments: { bash_command: 'dbt build --select staging.stg_orders+ --target prod' } } };
    await world.register(
      'warehouse',
      graphOf({ dbt: [], load: ['dbt'] }, (id) => (id === 'dbt' ? rest : {})),
    );
    const log =
      logLine('2 of 5 ERROR creating sql table model analytics.stg_orders ........ [ERROR in 0.10s]') +
      logLine('Database Error in model stg_orders (models/staging/stg_orders.sql)');
    const { runId } = await world.run('warehouse', { dbt: { state: 'failed', log } });
    const { structured, text } = await diagnose('warehouse', runId);
    expect(structured.models).toEqual([
      {
        name: 'analytics.stg_orders',
        kind: 'model',
        path: 'models/staging/stg_orders.sql',
        seen_in: 'log',
        task_ids: ['dbt'],
      },
    ]);
    expect(text).toContain(
      '- model analytics.stg_orders (models/staging/stg_orders.sql): failed according to the log of dbt',
    );
  });

  it('shows only as many last lines as asked for', async () => {
    const log = Array.from({ length: 500 }, (_, n) => logLine(`line ${n}`)).join('');
    await world.register('chatty', graphOf({ a: [] }));
    const { runId } = await world.run('chatty', { a: { state: 'failed', log } });
    for (const [input, count] of [
      [{}, 40],
      [{ log_tail_lines: 1 }, 1],
      [{ log_tail_lines: 200 }, 200],
    ] as const) {
      const lines = failureOf((await diagnose('chatty', runId, input)).structured, 'a')?.log.lines ?? [];
      expect([lines.length, lines.at(-1)]).toEqual([count, '[2026-11-15T06:31:12.123456Z] INFO - line 499']);
    }
  });

  it('says why there is no log where there is none', async () => {
    await world.register('silent', graphOf({ a: [] }));
    const { runId } = await world.run('silent', { a: { state: 'failed' } });
    const { structured, text } = await diagnose('silent', runId);
    expect(failureOf(structured, 'a')?.log).toEqual({
      untrusted: true,
      earlier_errors: [],
      lines: [],
      lines_left_out: 0,
      note: 'the log is empty',
    });
    expect(text).toContain('log: the log is empty');
  });
});

describe('a run in which nothing failed', () => {
  it('says so when it succeeded', async () => {
    await world.register('fine', graphOf({ a: [], b: ['a'] }));
    const { runId } = await world.run('fine', {});
    const { structured, text } = await diagnose('fine', runId);
    expect(structured).toMatchObject({ state: 'success', failures: [], waiting: [], run_waits_for: null });
    expect(structured.summary).toBe(`Run ${runId} of fine succeeded: nothing failed in 2 tasks.`);
    expect(text).toContain(structured.summary);
  });

  it('names what it waits for while it runs', async () => {
    await world.register('slow', graphOf({ a: [], b: ['a'], c: ['b'] }));
    const { runId } = await world.run('slow', { a: { hangs: true, log: logLine('page 7') } }, { a: 'running' });
    const { structured } = await diagnose('slow', runId);
    expect(structured.state).toBe('running');
    expect(structured.waiting).toEqual([
      {
        task_id: 'a',
        map_index: -1,
        state: 'running',
        wait_reason: null,
        trigger: null,
        last_lines: ['[2026-11-15T06:31:12.123456Z] INFO - page 7'],
      },
      ...['b', 'c'].map((id) => ({
        task_id: id,
        map_index: -1,
        state: null,
        wait_reason: 'waits for upstream tasks (0 of 1 are finished)',
        trigger: null,
        last_lines: [],
      })),
    ]);
    expect(structured.summary).toBe(
      `Run ${runId} of slow is running and nothing failed so far: 1 of 3 tasks active, 2 waiting. First reason: waits for upstream tasks.`,
    );
  });

  it('names the trigger of a deferred task, and since when it waits', async () => {
    const start = { class_path: 'shop.Paid', kwargs: '{}', next_method: 'go_on', next_kwargs: '{}', timeout: null };
    await world.register('deferred', [makeTask('a', { rest: { start_trigger: start } })]);
    const { runId } = await world.run('deferred', {}, { a: 'deferred' });
    const { structured, text } = await diagnose('deferred', runId);
    const [waiting] = structured.waiting;
    expect(waiting).toMatchObject({ state: 'deferred', trigger: { class_path: 'shop.Paid', triggerer: null } });
    expect(text).toContain(`- a: deferred, waits for shop.Paid since ${waiting?.trigger?.since}`);
    expect(structured.summary).toContain('waits for its trigger');
  });

  it('names what a run waits for that has not started', async () => {
    await world.register('resting', graphOf({ a: [] }));
    await world.engine.scope.updateTable('dags').set({ is_paused: true }).where('dag_id', '=', 'resting').execute();
    await world.engine.trigger('resting', { runId: 'manual__1' });
    const { structured } = await diagnose('resting', 'manual__1');
    expect(structured).toMatchObject({ state: 'queued', run_waits_for: 'the DAG is paused: unpause it to go on' });
    expect(structured.summary).toContain('has not started, so nothing failed. It waits: the DAG is paused');
  });
});

describe('around the failures', () => {
  it('are the tries before, of what failed and of what succeeded later, each counted once', async () => {
    await world.register(
      'again',
      graphOf({ mended: [], broken: [] }, () => ({ policy: { retries: 2, retry_delay: 0 } })),
    );
    const mended = (tryNumber: number) => (tryNumber === 3 ? {} : failing(tryNumber));
    const { runId } = await world.run('again', { mended, broken: failing });
    const { structured, text } = await diagnose('again', runId);
    expect(structured.counts).toMatchObject({ total: 2, failed: 1, up_for_retry: 0 });
    const reasons = [1, 2].map((tryNumber) =>
      expect.objectContaining({
        try_number: tryNumber,
        failure_reason: expect.stringMatching(/^exception: /) as string,
        failure_detail: expect.stringContaining(`try ${tryNumber}`) as string,
      }),
    );
    expect(failureOf(structured, 'broken')).toMatchObject({ try_number: 3, retries_left: 0, failed_tries: reasons });
    expect(structured.retried).toEqual([{ task_id: 'mended', map_index: -1, try_number: 3, failed_tries: reasons }]);
    expect(text).toContain('- mended: succeeded at try 3; try 1 failed at ');
  });

  it('is the error of the log, although a long clean-up follows, and what the task before said', async () => {
    const traceback = [
      'Traceback (most recent call last):',
      '  File "/w/shop.py", line 3, in parse',
      '    return int(text)',
      'ValueError: not a number, password=hunter2',
    ].join('\n');
    const log = logLine(traceback, 'error') + Array.from({ length: 100 }, (_, n) => logLine(`clean ${n}`)).join('');
    await world.register('clean', graphOf({ before: [], a: ['before'] }));
    const { runId } = await world.run('clean', { before: { log: logLine('0 rows') }, a: { state: 'failed', log } });
    const { structured, text } = await diagnose('clean', runId);
    expect(failureOf(structured, 'a')).toMatchObject({
      error: {
        type: 'ValueError',
        message: 'not a number, password=***',
        at: 'shop.py:3 in parse',
        code: 'return int(text)',
        root_cause: null,
      },
      upstream: [{ task_id: 'before', state: 'success', last_lines: [expect.stringContaining('0 rows') as string] }],
    });
    expect(text).toContain('error (untrusted): "ValueError: not a number, password=***" at "shop.py:3 in parse"');
    expect(text).not.toContain('hunter2');
  });

  it('is the pool without a slot, and who holds it', async () => {
    await world.engine.scope.insertInto('pools').values({ name: 'narrow', slots: 1 }).execute();
    await world.register(
      'pooled',
      graphOf({ first: [], second: [] }, (id) => ({
        policy: { pool: 'narrow', priority_weight: id === 'first' ? 9 : 1 },
      })),
    );
    const { runId } = await world.run('pooled', { first: { hangs: true } }, { first: 'running' });
    const { structured, text } = await diagnose('pooled', runId);
    expect(structured.pools).toEqual([
      {
        name: 'narrow',
        slots: 1,
        occupied: 1,
        held_by: [{ dag_id: 'pooled', run_id: runId, task: 'first', since: expect.any(String) as string }],
        waiting: ['second'],
        is_held_by_this_run: true,
      },
    ]);
    expect(text).toContain('Pool "narrow": 1 of 1 slots are occupied; second waits for it.\n- held by first of pooled');
  });

  it('is the version, when it is another than that of the run before', async () => {
    await world.register('changed', graphOf({ a: [] }));
    const { runId: before } = await world.run('changed', {});
    await world.register('changed', graphOf({ a: [], b: ['a'] }));
    const { runId } = await world.run('changed', { a: failing });
    const { structured, text } = await diagnose('changed', runId);
    expect(structured.history).toMatchObject({
      previous_run: { run_id: before, state: 'success', version_numbers: [1] },
      version_changed: true,
      newest_version: 2,
    });
    expect(text).toContain(`The run before, ${before}, succeeded.`);
    expect(text).toContain('the run before had version 1: the DAG was changed in between');
  });
});

describe('without a run id', () => {
  const diagnoseDag = (dagId: string) => callTool<DiagnoseRunOutput>(client, 'diagnose_run', { dag_id: dagId });

  it('takes the newest failed run, or else the newest', async () => {
    await world.register('many', graphOf({ a: [] }));
    const { runId: good } = await world.run('many', { a: {} });
    expect((await diagnoseDag('many')).structured.run_id).toBe(good);
    const { runId: bad } = await world.run('many', { a: failing });
    await world.run('many', { a: {} });
    expect((await diagnoseDag('many')).structured).toMatchObject({ run_id: bad, state: 'failed' });
  });

  it('a DAG that has never run says why', async () => {
    await world.register('unused', graphOf({ a: [] }));
    const { structured, text, isError } = await diagnoseDag('unused');
    expect([isError, structured.run_id, structured.state]).toEqual([false, null, null]);
    expect(text).toContain('DAG unused has never run: it has no schedule');
  });

  it('a DAG whose file does not compile shows why; of others only the files are named', async () => {
    const report = { filename: 'sales.py', bundle_name: 'x', stack_trace: 'sales.py:3: NameError: TOKEN=abc123 gone' };
    const token = await world.server.login();
    await world.server.call('/api/v2/importErrors', { method: 'POST', token, body: report });
    const { structured, text } = await diagnoseDag('sales');
    expect(structured.import_errors).toMatchObject([
      { file: 'sales.py', lines: ['sales.py:3: NameError: TOKEN=*** gone'] },
    ]);
    expect(text).toContain('There is no DAG sales, so it has no runs. A file that could define it does not compile.');
    expect((await diagnose('sales', 'manual__1')).structured.import_errors).toHaveLength(1);
    const other = await diagnoseDag('no_such_dag');
    expect([other.isError, other.text]).toEqual([true, expect.stringContaining('could define it: sales.py')]);
  });
});

describe('a large run', () => {
  it('costs as few requests as a small one, and shows the variety of its failures', async () => {
    const taskIds = Array.from({ length: 600 }, (_, n) => `task_${n}`);
    await world.register('wide', graphOf(Object.fromEntries(taskIds.map((id) => [id, []]))));
    const log = logLine('boom', 'error');
    const endings = Object.fromEntries(taskIds.slice(0, 300).map((id) => [id, { state: 'failed' as const, log }]));
    await world.engine.scope
      .updateTable('dags')
      .set({ max_active_tasks: 1_000 })
      .where('dag_id', '=', 'wide')
      .execute();
    const { runId } = await world.run('wide', endings);
    tools.logLines.length = 0;
    const { structured } = await diagnose('wide', runId);
    expect(structured.counts).toMatchObject({ total: 600, failed: 300 });
    expect(structured.failures).toHaveLength(20);
    expect(structured.failures_not_shown).toBe(280);
    expect(new Set(structured.failures.map((failure) => failure.task_id)).size).toBe(20);
    const [line] = tools.logLines.map((text) => JSON.parse(text) as { requests: number });
    // 2; on a busy machine one may have to be repeated.
    expect(line?.requests).toBeLessThanOrEqual(6);
  });
});

describe('a call that cannot work', () => {
  it.each([
    [{ log_tail_lines: 0 }, 'log_tail_lines: must be a whole number from 1 to 200'],
    [{ log_tail_lines: 201 }, 'log_tail_lines: must be a whole number from 1 to 200'],
    [{ log_tail_lines: 1.5 }, 'log_tail_lines: must be a whole number from 1 to 200'],
    [{ log_tail_lines: '40' }, 'log_tail_lines: must be a whole number from 1 to 200'],
    [{ dag_id: '~' }, 'dag_id: must be a DAG id'],
    [{ dag_id: '..' }, 'dag_id: must be a DAG id'],
    [{ dag_id: 'a/b' }, 'dag_id: must be a DAG id'],
    [{ run_id: '~' }, 'run_id: must be a run id'],
    [{ run_id: '../x' }, 'run_id: must be a run id'],
    [{ dagId: 'x' }, 'Unrecognized key'],
  ])('%j: says what is allowed', async (input, message) => {
    const { isError, text } = await diagnose('shop', 'manual__1', input);
    expect([isError, text]).toEqual([true, expect.stringContaining(message)]);
  });

  it('is told that a run does not exist, and where to look', async () => {
    const { isError, text } = await diagnose('shop', 'no_such_run');
    expect(isError).toBe(true);
    expect(text).toContain('not found: The DagRun with dag_id: `shop` and run_id: `no_such_run` was not found');
    expect(text).toContain('list_dags');
  });
});
