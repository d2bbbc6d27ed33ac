/** `svc backfill` against a control plane that really runs the tasks. */
import type { Backfill, DagRun } from '@svc/client/wire-types.ts';
import { startLiveServer } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const dailyDag = (dagId: string): string => `
from datetime import datetime, timezone
from airflow.sdk import DAG, task

with DAG("${dagId}", schedule="0 6 * * *", start_date=datetime(2025, 1, 1, tzinfo=timezone.utc), catchup=False):
    @task
    def load(logical_date=None, params=None, dag_run=None):
        if str(logical_date.day) == dag_run.conf.get("bad_day"):
            raise ValueError("bad day")

    load()
`;

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
  await live.addDag('daily', dailyDag('daily'), { isPaused: true });
});
afterAll(() => live.close());
beforeEach(async () => {
  await live.svc('dags', 'pause', 'daily'); // first, or its schedule could make a run after the deletion
  await live.server.db.shared.deleteFrom('dag_runs').execute();
  await live.server.db.shared.deleteFrom('backfills').execute();
});

const range = ['--from', '2025-01-01', '--to', '2025-01-03'];
const states = (runs: readonly DagRun[]): [string, string][] =>
  runs.map((run) => [run.logical_date?.slice(0, 13) ?? '', run.state]);

describe('svc backfill', () => {
  it('shows the dates first, the last day included to its end, in the order it would go', async () => {
    const dry = await live.svc('backfill', 'daily', ...range, '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: '2025-01-01 06:00:00\n2025-01-02 06:00:00\n2025-01-03 06:00:00\n',
      stderr: '3 runs; nothing was created.\n',
    });
    const reverse = await live.svc('backfill', 'create', 'daily', ...range, '--dry-run', '--reverse');
    expect(reverse.stdout).toMatch(/^2025-01-03 .*\n2025-01-02 .*\n2025-01-01 .*\n$/);
    expect(await live.jsonOf('backfill', 'list')).toEqual([]);
  });

  it('runs every date, tells of those that failed, and runs just them again', async () => {
    await live.svc('dags', 'unpause', 'daily');
    const failed = await live.svc('backfill', 'daily', ...range, '--wait', '--param', 'bad_day="2"');
    expect(failed.stdout).toMatch(/^Created backfill \d+ of DAG daily: 3 runs, 10 at a time\.\n/);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/1 of 3 runs failed\n.*svc backfill show/) });

    const [backfill] = await live.jsonOf<Backfill[]>('backfill', 'list', 'daily');
    const shown = await live.jsonOf<Backfill & { dag_runs: DagRun[] }>('backfill', 'show', String(backfill?.id));
    expect(states(shown.dag_runs)).toEqual([
      ['2025-01-01T06', 'success'],
      ['2025-01-02T06', 'failed'],
      ['2025-01-03T06', 'success'],
    ]);
    const text = await live.svc('backfill', 'show', String(backfill?.id));
    expect(text.stdout).toMatch(/State +completed\n[\s\S]*2025-01-02 06:00:00 +\S+ +failed/);

    const again = await live.svc('backfill', 'daily', ...range, '--reprocess', 'failed', '--dry-run');
    expect(again.stdout).toBe('2025-01-02 06:00:00\n');
    const nothing = await live.svc('backfill', 'daily', ...range);
    expect(nothing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--reprocess completed') });
  });

  it('can be paused, let go and cancelled, until it is completed', async () => {
    const created = await live.svc('backfill', 'daily', ...range);
    expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('svc dags unpause daily') });
    const [{ id } = { id: 0 }] = await live.jsonOf<Backfill[]>('backfill', 'list', '--active');
    expect((await live.svc('backfill', 'pause', `${id}`)).stdout).toBe(`Paused backfill ${id} of DAG daily.\n`);
    expect((await live.svc('backfill', 'list')).stdout).toMatch(/daily +paused +2025-01-01 00:00:00/);
    expect(await live.jsonOf('backfill', 'unpause', `${id}`)).toMatchObject({ id, is_paused: false });

    const second = await live.svc('backfill', 'daily', '--from', '2025-02-01', '--to', '2025-02-02');
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`backfill ${id}`) });
    expect((await live.svc('backfill', 'cancel', `${id}`)).code).toBe(0);
    expect(await live.jsonOf('backfill', 'list', '--active')).toEqual([]);
    const over = await live.svc('backfill', 'cancel', `${id}`);
    expect(over).toMatchObject({ code: 1, stderr: expect.stringContaining('completed already') });
  });

  it('does not wait for a paused DAG, and says what is wrong with a range', async () => {
    const code = async (...argv: string[]) => (await live.svc('backfill', ...argv)).code;
    expect(await live.svc('backfill', 'daily', ...range, '--wait')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('svc dags unpause daily'),
    });
    expect(await live.jsonOf('backfill', 'list')).toEqual([]);
    expect(await code('daily', '--from', '2025-01-03', '--to', '2025-01-01')).toBe(2);
    expect(await code('daily', '--from', '2025-01-03')).toBe(2);
    expect(await code('nowhere', ...range)).toBe(4);
    expect(await code('show', '999999')).toBe(4);
    expect(await code('show', 'daily')).toBe(2);
  });
});
