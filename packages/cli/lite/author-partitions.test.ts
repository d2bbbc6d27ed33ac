/**
 * Partitions on a real control plane with real Python processes: keys of runs and events, schedules by them, and classes of authors
 * that inherit those schedules or map keys themselves, asked by workers.
 */
import { eventually } from '@svc/testing/eventually.ts';
import { startAuthorCodeServer } from '@svc/testing/server/author-code-server.ts';
import type { AuthorCodeServer, AuthorRun } from '@svc/testing/server/author-code-server.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let server: AuthorCodeServer;

beforeAll(async () => {
  server = await startAuthorCodeServer();
}, 400_000);

afterAll(() => server.close());

const PARTITIONS = `
import pendulum
from airflow.sdk import DAG, Asset, CronPartitionTimetable, PartitionedAssetTimetable, ProductMapper, IdentityMapper, StartOfDayMapper, task
hourly, other, plain = Asset("hourly"), Asset("other"), Asset("plain-hourly")

with DAG("producer", schedule=CronPartitionTimetable("0 */6 * * *", timezone="UTC", run_offset=-1),
         start_date=pendulum.parse("START"), end_date=pendulum.parse("END"), catchup=True):
    @task(outlets=[hourly])
    def make(dag_run=None):
        return [dag_run.partition_key, dag_run.logical_date]
    make()

with DAG("consumer", schedule=PartitionedAssetTimetable(assets=hourly & other, partition_mapper_config={hourly: StartOfDayMapper()})):
    @task
    def use(dag_run=None, triggering_asset_events=None):
        keys = sorted(e.partition_key for events in triggering_asset_events.values() for e in events)
        return {"key": dag_run.partition_key, "events": keys}
    use()

with DAG("by_nobody", schedule=[hourly]):
    @task
    def never(): ...
    never()
`;

describe('partitions', () => {
  const valueOf = async (dagId: string, runId: string, taskId: string): Promise<unknown> =>
    (
      await server.api<{ value: unknown }>(
        'GET',
        `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`,
      )
    ).value;
  const succeeded = async (dagId: string, count: number): Promise<AuthorRun[]> => {
    const runs = async () => (await server.runsOf(dagId)).filter(({ state }) => state === 'success');
    await eventually(async () => expect(await runs()).toHaveLength(count), { withinMs: 120_000 });
    return runs();
  };

  it('a cron schedule of partitions makes runs with keys and without dates, and their events have the key', async () => {
    await server.deploy(
      'partitions',
      PARTITIONS.replace('START', '2026-05-07T00:00:00Z').replace('END', '2026-05-07T12:00:00Z'),
    );
    const runs = await succeeded('producer', 3);
    expect(runs.map(({ partition_key: key }) => key)).toEqual([
      '2026-05-06T18:00:00',
      '2026-05-07T00:00:00',
      '2026-05-07T06:00:00',
    ]);
    expect(runs[0]).toMatchObject({ logical_date: null, data_interval_start: null, run_type: 'scheduled' });
    expect(runs[0]?.dag_run_id).toMatch(/^scheduled__2026-05-07T00:00:00\+00:00__2026-05-06T18:00:00__[0-9a-f]{8}$/);
    expect(await valueOf('producer', runs[0]?.dag_run_id ?? '', 'make')).toEqual(['2026-05-06T18:00:00', null]);
    expect(await server.api('GET', '/dags/producer')).toMatchObject({ timetable_partitioned: true });
    const filtered = await server.api<{ total_entries: number }>(
      'GET',
      '/dags/producer/dagRuns?partition_key_pattern=2026-05-07',
    );
    expect(filtered.total_entries).toBe(2);
  }, 400_000);

  it('a DAG on partitioned assets runs for a key when all its assets have it, after mapping', async () => {
    await eventually(async () => {
      const waiting = await server.request<{ partitioned_dag_runs: { partition_key: string }[] }>(
        'GET',
        '/ui/partitioned_dag_runs?dag_id=consumer&has_created_dag_run_id=false',
      );
      const byKey = waiting.partitioned_dag_runs.toSorted((a, b) => (a.partition_key < b.partition_key ? 1 : -1));
      expect(byKey).toMatchObject([
        { partition_key: '2026-05-07', total_received: 1, total_required: 2, created_dag_run_id: null },
        { partition_key: '2026-05-06', total_received: 1, total_required: 2, created_dag_run_id: null },
      ]);
    });
    const detail = await server.request('GET', '/ui/pending_partitioned_dag_run/consumer/2026-05-07');
    expect(detail).toMatchObject({
      assets: [
        { asset_name: 'hourly', received: true },
        { asset_name: 'other', received: false },
      ],
      asset_expression: { all: [{ asset: { name: 'hourly' } }, { asset: { name: 'other' } }] },
    });
    const { assets } = await server.api<{ assets: { id: number; name: string }[] }>(
      'GET',
      '/assets?name_pattern=other',
    );
    const assetId = assets.find(({ name }) => name === 'other')?.id;
    await server.api('POST', '/assets/events', { asset_id: assetId, extra: {} }); // without a key: nobody's
    await server.api('POST', '/assets/events', { asset_id: assetId, partition_key: '2026-05-07', extra: {} });
    const [run] = await succeeded('consumer', 1);
    expect(run).toMatchObject({ partition_key: '2026-05-07', run_type: 'asset_triggered', logical_date: null });
    expect(await valueOf('consumer', run?.dag_run_id ?? '', 'use')).toEqual({
      key: '2026-05-07',
      events: ['2026-05-07', '2026-05-07T00:00:00', '2026-05-07T06:00:00'],
    });
    const created = await server.request('GET', '/ui/partitioned_dag_runs?dag_id=consumer&has_created_dag_run_id=true');
    expect(created).toMatchObject({
      partitioned_dag_runs: [{ partition_key: '2026-05-07', state: 'success', created_dag_run_id: run?.dag_run_id }],
    });
    expect(await server.runsOf('by_nobody')).toEqual([]); // events of partitions are not for it
  }, 400_000);

  it('a key that no mapper takes is a warning in words; a manual run may name its key', async () => {
    const { assets } = await server.api<{ assets: { id: number; name: string }[] }>(
      'GET',
      '/assets?name_pattern=hourly',
    );
    const assetId = assets.find(({ name }) => name === 'hourly')?.id;
    await server.api('POST', '/assets/events', { asset_id: assetId, partition_key: 'yesterday', extra: {} });
    await eventually(async () => {
      const { dag_warnings: warnings } = await server.api<{ dag_warnings: { message: string }[] }>(
        'GET',
        '/dagWarnings?dag_id=consumer',
      );
      expect(warnings.map(({ message }) => message)).toEqual([
        'an event of asset "hourly" starts no run: the partition key "yesterday" does not have the form "%Y-%m-%dT%H:%M:%S"',
      ]);
    });
    const run = await server.api<AuthorRun>('POST', '/dags/producer/dagRuns', { partition_key: '2026-05-06T23:00:00' });
    expect(run.partition_key).toBe('2026-05-06T23:00:00');
    await eventually(
      async () => {
        const found = await server.request<{ partitioned_dag_runs: { partition_key: string }[] }>(
          'GET',
          '/ui/partitioned_dag_runs?dag_id=consumer&has_created_dag_run_id=false',
        );
        expect(found.partitioned_dag_runs).toHaveLength(1);
        expect((await server.runsOf('producer')).every(({ state }) => state === 'success')).toBe(true);
      },
      { withinMs: 120_000 },
    );
  }, 400_000);

  it('a backfill names the partitions it would run, and runs those without a run', async () => {
    const range = { dag_id: 'producer', from_date: '2026-05-07T00:00:00Z', to_date: '2026-05-07T18:00:00Z' };
    const dry = await server.api<{ backfills: unknown[] }>('POST', '/backfills/dry_run', range);
    expect(dry.backfills).toEqual([
      {
        logical_date: null,
        partition_key: '2026-05-07T12:00:00',
        partition_date: expect.stringContaining('2026-05-07T12'),
      },
    ]);
    await server.api('POST', '/backfills', range);
    const ids = (await server.runsOf('producer')).map(({ dag_run_id: id }) => id);
    expect(
      ids.filter((id) => id.startsWith('backfill__2026-05-07T18:00:00+00:00__2026-05-07T12:00:00__')),
    ).toHaveLength(1);
  }, 400_000);
});

const OWN_MAPPERS = `
from airflow.partition_mappers.base import PartitionMapper
from airflow.sdk import DAG, Asset, PartitionedAssetTimetable, StartOfMonthMapper, task
sales, returns = Asset("own-sales"), Asset("own-returns")

class WithoutRegion(PartitionMapper):
    def __init__(self, separator):
        self.separator = separator

    def serialize(self):
        return {"separator": self.separator}

    def to_downstream(self, key):
        region, rest = key.split(self.separator)
        return rest if region != "all" else [f"{rest}-{part}" for part in ("north", "south")]

class Reported(StartOfMonthMapper):
    def to_downstream(self, key):
        return "report of " + super().to_downstream(key)

with DAG("own_mapper", schedule=PartitionedAssetTimetable(assets=sales, default_partition_mapper=WithoutRegion("::"))):
    @task
    def use(dag_run=None):
        return dag_run.partition_key
    use()

with DAG("own_months", schedule=PartitionedAssetTimetable(
        assets=sales & returns, partition_mapper_config={returns: Reported("%Y-%m-%d")}, default_partition_mapper=WithoutRegion("/"))):
    @task
    def use(dag_run=None):
        return dag_run.partition_key
    use()
`;

describe('a partition mapper of the author', () => {
  const happened = async (name: string, ...keys: string[]): Promise<void> => {
    const { assets } = await server.api<{ assets: { id: number; name: string }[] }>(
      'GET',
      `/assets?name_pattern=${name}`,
    );
    const assetId = assets.find((asset) => asset.name === name)?.id;
    for (const key of keys)
      await server.api('POST', '/assets/events', { asset_id: assetId, partition_key: key, extra: {} });
  };
  const keysOf = async (dagId: string): Promise<(string | null)[]> =>
    (await server.runsOf(dagId)).map(({ partition_key: key }) => key).toSorted();

  it('is asked by a worker, for one run or several; what it inherits answers, and what it raises is told', async () => {
    await server.deploy('own_mappers', OWN_MAPPERS);
    await happened('own-sales', 'eu::2026-05-07', 'all::2026-05-08', 'without region');
    await eventually(
      async () => expect(await keysOf('own_mapper')).toEqual(['2026-05-07', '2026-05-08-north', '2026-05-08-south']),
      { withinMs: 120_000 },
    );
    // The last key may be asked about by itself, after the others.
    await eventually(async () => {
      const { dag_warnings: warnings } = await server.api<{ dag_warnings: { message: string }[] }>(
        'GET',
        '/dagWarnings?dag_id=own_mapper',
      );
      expect(warnings.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /^an event of asset "own-sales" starts no run: the partition mapper own_mappers\.WithoutRegion raised ValueError: /,
        ),
      ]);
    });
    await happened('own-sales', 'eu/report of 2026-05');
    await happened('own-returns', '2026-05-20');
    await eventually(async () => expect(await keysOf('own_months')).toEqual(['report of 2026-05']), {
      withinMs: 120_000,
    });
  }, 400_000);
});

const INHERITED = `
import datetime
import pendulum
from airflow.sdk import DAG, Asset, task
from airflow.timetables.assets import AssetOrTimeSchedule
from airflow.timetables.base import DataInterval
from airflow.timetables.simple import PartitionedAssetTimetable
from airflow.timetables.trigger import CronPartitionTimetable, CronTriggerTimetable
from airflow.partition_mappers.base import PartitionMapper
inherited, other = Asset("inherited"), Asset("inherited-other")

class Workdays(CronPartitionTimetable):
    """Partitions of working days; each knows the one before it."""
    def next_dagrun_info_v2(self, *, last_dagrun_info, restriction):
        info = super().next_dagrun_info_v2(last_dagrun_info=last_dagrun_info, restriction=restriction)
        while info is not None and info.partition_date.weekday() > 4:
            info = super().next_dagrun_info_v2(last_dagrun_info=info, restriction=restriction)
        before = "none" if last_dagrun_info is None else last_dagrun_info.partition_key.partition(" ")[0]
        return info and info._replace(partition_key=f"{info.partition_key} after {before}")

with DAG("workdays", schedule=Workdays("0 3 * * *", timezone="UTC", run_offset=-1, key_format="%Y-%m-%d"),
         start_date=pendulum.parse("START"), end_date=pendulum.parse("END"), catchup=True, max_active_runs=16):
    @task(outlets=[inherited])
    def make(dag_run=None):
        return [dag_run.partition_key, dag_run.logical_date]
    make()

class Prefix(PartitionMapper):
    def __init__(self, text):
        self.text = text
    def to_downstream(self, key):
        return self.text + key[:7]

class ByAsset(PartitionedAssetTimetable):
    def get_partition_mapper(self, *, name="", uri=""):
        return Prefix("month ") if name == "inherited" else super().get_partition_mapper(name=name, uri=uri)

with DAG("by_month", schedule=ByAsset(assets=inherited)):
    @task
    def use(dag_run=None):
        return dag_run.partition_key
    use()

class Days(AssetOrTimeSchedule):
    """Not on the first of a month; a manual run covers a day."""
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        info = super().next_dagrun_info(last_automated_data_interval=last_automated_data_interval, restriction=restriction)
        while info is not None and info.data_interval.start.day == 1:
            info = super().next_dagrun_info(last_automated_data_interval=info.data_interval, restriction=restriction)
        return info
    def infer_manual_data_interval(self, *, run_after):
        found = super().infer_manual_data_interval(run_after=run_after)
        return DataInterval(found.end - datetime.timedelta(days=1), found.end)

with DAG("days_or_assets", schedule=Days(timetable=CronTriggerTimetable("@daily", timezone="UTC"), assets=[other]),
         start_date=pendulum.datetime(2026, 3, 31, tz="UTC"), end_date=pendulum.datetime(2026, 4, 2, tz="UTC"), catchup=True):
    @task
    def one(): ...
    one()
`;

describe('a class that inherits a timetable of partitions or assets', () => {
  const keysOf = async (dagId: string): Promise<(string | null)[]> =>
    (await server.runsOf(dagId)).map(({ partition_key: key }) => key);

  it('makes runs of partitions as it likes them, behind the end of its table too, and its events have their keys', async () => {
    // 150 days until the end: 108 working days, more than the table of 100 that is compiled.
    await server.deploy(
      'inherited',
      INHERITED.replace('START', '2026-01-01T00:00:00Z').replace('END', '2026-05-31T00:00:00Z'),
    );
    const count = async (): Promise<number> =>
      (await server.api<{ total_entries: number }>('GET', '/dags/workdays/dagRuns?limit=1')).total_entries;
    await eventually(async () => expect(await count()).toBe(108), { withinMs: 120_000 });
    const keys = await keysOf('workdays');
    expect(keys.slice(0, 3)).toEqual([
      '2025-12-31 after none',
      '2026-01-01 after 2025-12-31',
      '2026-01-02 after 2026-01-01',
    ]);
    const all = await server.api<{ dag_runs: AuthorRun[] }>(
      'GET',
      '/dags/workdays/dagRuns?order_by=-run_after&limit=1',
    );
    expect(all.dag_runs).toMatchObject([
      { partition_key: '2026-05-29 after 2026-05-28', logical_date: null, data_interval_start: null },
    ]);
    expect(await server.api('GET', '/dags/workdays')).toMatchObject({ timetable_partitioned: true });
    await eventually(async () => expect((await keysOf('by_month')).toSorted()).toContain('month 2026-05'), {
      withinMs: 120_000,
    });
  }, 400_000);

  it('goes on where it stood when it is deployed again', async () => {
    await server.deploy(
      'inherited',
      INHERITED.replace('START', '2026-01-01T00:00:00Z').replace('END', '2026-06-02T12:00:00Z'),
    );
    const newest = async (): Promise<unknown> =>
      (await server.api<{ dag_runs: AuthorRun[] }>('GET', '/dags/workdays/dagRuns?order_by=-run_after&limit=2'))
        .dag_runs;
    // Sunday the 31st has no run: the partition before it is of a Saturday.
    await eventually(
      async () =>
        expect(await newest()).toMatchObject([
          { partition_key: '2026-06-01 after 2026-05-29' },
          { partition_key: '2026-05-29 after 2026-05-28' },
        ]),
      { withinMs: 120_000 },
    );
  }, 400_000);

  it('has the runs by time that it gives, those of events, and is asked what a manual one covers', async () => {
    const dates = async (): Promise<(string | null)[]> =>
      (await server.runsOf('days_or_assets')).map(({ data_interval_start: start }) => start?.slice(0, 10) ?? null);
    await eventually(async () => expect(await dates()).toEqual(['2026-03-31', '2026-04-02']), { withinMs: 120_000 });
    const day = { logical_date: '2026-03-05T07:00:00Z' };
    // A worker that is slow to start is not waited for without end: the caller asks again.
    const run = await eventually(() => server.api<AuthorRun>('POST', '/dags/days_or_assets/dagRuns', day));
    expect(run).toMatchObject({
      data_interval_start: '2026-03-04T07:00:00.000000Z',
      data_interval_end: '2026-03-05T07:00:00.000000Z',
    });
    const { assets } = await server.api<{ assets: { id: number; name: string }[] }>(
      'GET',
      '/assets?name_pattern=inherited-other',
    );
    await server.api('POST', '/assets/events', { asset_id: assets[0]?.id, extra: {} });
    await eventually(
      async () =>
        expect((await server.runsOf('days_or_assets')).map(({ run_type: type }) => type)).toContain('asset_triggered'),
      { withinMs: 120_000 },
    );
  }, 400_000);
});
