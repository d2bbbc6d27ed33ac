/** The calendar: by which dates runs are shown and planned. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token: string;
let tenant: ReturnType<TestServer['db']['tenant']>;
beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  tenant = server.db.tenant(id);
});
afterAll(() => server?.close());

const day = (number: number): string => `2031-03-0${number}T00:00:00.000Z`;

type Count = { date: string; state: string; count: number };

/** As `day state count`. */
async function calendarOf(dagId: string, query: string): Promise<string[]> {
  const { json } = await server.call(`/ui/calendar/${dagId}?${query}`, { token });
  const { dag_runs: runs, total_entries: total } = json<{ dag_runs: Count[]; total_entries: number }>();
  expect(total).toBe(runs.length);
  return runs.map(({ date, state, count }) => `${date.slice(8, 10)} ${state} ${count}`);
}

it('runs are shown by their logical dates, within the limits to the moment', async () => {
  await insertDag(tenant, { dagId: 'dated' });
  for (const number of [1, 2, 3]) {
    await insertRun(tenant, { dagId: 'dated', runId: `r${number}`, state: 'success', logical_date: day(number) });
  }
  const [first, last] = [day(1), day(3)];
  expect(await calendarOf('dated', '')).toEqual(['01 success 1', '02 success 1', '03 success 1']);
  expect(await calendarOf('dated', `logical_date_gte=${first}&logical_date_lt=${last}`)).toEqual([
    '01 success 1',
    '02 success 1',
  ]);
  expect(await calendarOf('dated', `logical_date_gt=${first}&logical_date_lte=${last}`)).toEqual([
    '02 success 1',
    '03 success 1',
  ]);
});

it('those of partitions by the dates of these, past and planned', async () => {
  await insertDag(tenant, { dagId: 'partitioned' });
  const timetable = {
    type: 'cron_partition',
    expression: '0 0 * * *',
    timezone: 'UTC',
    run_offset: -1,
    key_format: '%Y-%m-%d',
    run_immediately: false,
  } as const;
  await tenant
    .updateTable('dags')
    .set({
      timetable: JSON.stringify(timetable),
      is_paused: false,
      next_dagrun_logical_date: null,
      next_dagrun_data_interval_start: day(4),
      next_dagrun_data_interval_end: day(4),
      next_dagrun_run_after: day(4),
    })
    .where('dag_id', '=', 'partitioned')
    .execute();
  for (const number of [2, 3]) {
    await insertRun(tenant, {
      dagId: 'partitioned',
      runId: `r${number}`,
      state: 'failed',
      run_after: day(number),
      partition_date: day(number - 1),
      partition_key: `2031-03-0${number - 1}`,
    });
  }
  await insertRun(tenant, { dagId: 'partitioned', runId: 'by hand', state: 'success', run_after: day(2) });
  const of = (from: number, to: number) =>
    calendarOf('partitioned', `partition_date_gte=${day(from)}&partition_date_lte=${day(to)}`);
  expect(await of(1, 5)).toEqual(['01 failed 1', '02 failed 1', '03 planned 1', '04 planned 1', '05 planned 1']);
  expect(await of(2, 3)).toEqual(['02 failed 1', '03 planned 1']);
  expect(await of(5, 6)).toEqual(['05 planned 1', '06 planned 1']);
});
