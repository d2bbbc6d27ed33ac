import type { RunDiagnosis } from '@svc/client/wire-types.ts';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { logLine, startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let world: FailedRuns;
let token: string;
beforeAll(async () => {
  world = await startFailedRuns();
  token = await world.server.login();
});
afterAll(() => world?.close());

const pathOf = (dagId: string, runId: string) => `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
const get = (path: string) => world.server.call(path, { token });
async function diagnose(dagId: string, runId: string): Promise<RunDiagnosis> {
  const answer = await get(`${pathOf(dagId, runId)}/diagnosis`);
  expect(answer.status).toBe(200);
  return answer.json<RunDiagnosis>();
}

const TRACEBACK = [
  'Traceback (most recent call last):',
  '  File "/dags/shop.py", line 12, in load',
  '    connect(host)',
  'ConnectionError: host refused, password=hunter2',
].join('\n');
const refused = {
  state: 'failed' as const,
  failure: { cause: 'exception' as const, text: 'ConnectionError: host refused, password=hunter2' },
  log: logLine(TRACEBACK, 'error'),
};

/** As if a bundle had deployed this version from a commit. */
async function deployedBy(author: string, { dagId, version }: { dagId: string; version: number }): Promise<void> {
  const { scope } = world.engine;
  const bundle = { name: 'etl', kind: 'git' as const, url: 'https://git.example.com/etl.git', created_by: 'admin' };
  await scope
    .insertInto('bundles')
    .values({ ...bundle, on_error: 'refuse', adopts: false, poll_seconds: 60, next_check_at: new Date() })
    .execute();
  const content = { root: '', dags: '{}', changes: '{}', changed: 1 };
  await scope
    .insertInto('deployments')
    .values({ bundle_name: 'etl', number: 1, kind: 'sync', version: 'c0ffee', author, created_by: 'admin', ...content })
    .execute();
  await scope
    .updateTable('dag_versions')
    .set({ bundle_name: 'etl', bundle_version: 'c0ffee' })
    .where('dag_id', '=', dagId)
    .where('version_number', '=', version)
    .execute();
}

describe('the diagnosis of a failed run', () => {
  it('has the exception, the line of the author, what is blocked and what to try as values, without a secret', async () => {
    await world.register('refused', graphOf({ load: [], publish: ['load'] }));
    const { runId } = await world.run('refused', { load: refused });
    const diagnosis = await diagnose('refused', runId);
    const [failure] = diagnosis.failures;
    expect(failure?.cause).toMatchObject({
      code: 'exception',
      seen_by: 'task',
      is_infrastructure: false,
      exception: { type: 'ConnectionError', file: 'shop.py', line: 12, function: 'load', code: 'connect(host)' },
    });
    expect(failure?.blocks).toEqual({ total: 1, task_ids: ['publish'] });
    expect(failure?.advice.map(({ code }) => code)).toEqual(['check_connection', 'fix_code']);
    expect(JSON.stringify(diagnosis)).not.toContain('hunter2');
  });

  it('tells since which version a task fails, and which earlier runs had the same cause', async () => {
    await world.register('aging', graphOf({ load: [] }));
    const { runId: good } = await world.run('aging', {});
    await world.register('aging', graphOf({ load: [], more: [] }));
    await deployedBy('Ada <ada@example.com>', { dagId: 'aging', version: 2 });
    const { runId: first } = await world.run('aging', { load: refused });
    const { runId: second } = await world.run('aging', { load: refused });
    const { failures } = await diagnose('aging', second);
    expect(failures[0]?.history).toMatchObject({
      failed_before: 1,
      since_version: 2,
      first_failure: {
        run_id: first,
        version: { version_number: 2, bundle_version: 'c0ffee', author: 'Ada <ada@example.com>' },
      },
      last_success: { run_id: good, version_number: 1 },
      same_cause_in: [first],
    });
  });

  it('a lost worker and a killed process are codes, and no sentence has to be read', async () => {
    await world.register('killed', graphOf({ a: [], b: [] }));
    const text = 'the task process was killed by SIGTERM';
    const { runId } = await world.run('killed', {
      a: { state: 'failed', failure: { cause: 'process_killed', text } },
      b: { state: 'failed', failure: { cause: 'agent_lost', text: '' } },
    });
    const { failures } = await diagnose('killed', runId);
    const causeOf = (taskId: string) => failures.find((one) => one.task_id === taskId)?.cause;
    expect(causeOf('a')).toMatchObject({ code: 'process_killed', signal: 'SIGTERM' });
    expect(causeOf('b')).toMatchObject({ code: 'agent_lost', is_infrastructure: true });
  });
});

describe('the diagnosis of a waiting run', () => {
  it('names the code of each wait and what ends it', async () => {
    await world.register(
      'waits',
      graphOf({ a: [], b: ['a'] }, (id) => (id === 'a' ? { policy: { retries: 1, retry_delay: 3_600 } } : {})),
    );
    const { runId } = await world.run('waits', { a: refused }, { a: 'up_for_retry' });
    const diagnosis = await diagnose('waits', runId);
    expect(diagnosis.failures[0]?.next_try_at).toEqual(expect.any(String));
    expect(diagnosis.waiting.find((one) => one.task_id === 'b')).toMatchObject({
      wait: { code: 'upstream', detail: '0 of 1 are finished', ends_with: 'the end of the upstream tasks' },
    });
    const instance = await get(`${pathOf('waits', runId)}/taskInstances/b/diagnosis`);
    expect(instance.json()).toMatchObject({ failure: null, waiting: { wait: { code: 'upstream' } } });
  });
});

describe('the diagnosis of a task instance', () => {
  it('is that of the asked try, and a try that does not exist is 404', async () => {
    const policy = { retries: 1, retry_delay: 0 };
    await world.register(
      'tries',
      graphOf({ a: [] }, () => ({ policy })),
    );
    const { runId } = await world.run('tries', {
      a: (tryNumber) => ({
        state: 'failed',
        failure: { cause: 'exception', text: `ValueError: try ${tryNumber}` },
        log: logLine(`this is try ${tryNumber}`),
      }),
    });
    const of = (query: string) => get(`${pathOf('tries', runId)}/taskInstances/a/diagnosis${query}`);
    expect((await of('')).json()).toMatchObject({ try_number: 2, failure: { cause: { detail: 'ValueError: try 2' } } });
    expect((await of('?try_number=1')).json()).toMatchObject({
      try_number: 1,
      failure: { cause: { detail: 'ValueError: try 1' }, log: { lines: [expect.stringContaining('this is try 1')] } },
    });
    expect((await of('?try_number=9')).status).toBe(404);
    expect((await of('?map_index=3')).status).toBe(404);
    expect((await get(`${pathOf('tries', 'no_such_run')}/diagnosis`)).status).toBe(404);
  });
});
