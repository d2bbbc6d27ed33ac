/**
 * Code of authors that decides about runs, on a real control plane with real Python processes: a timetable class of their own,
 * asked in the compiler's sandbox and by workers, never in the control plane.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type Run = {
  dag_run_id: string;
  run_type: string;
  state: string;
  logical_date: string | null;
  data_interval_start: string | null;
  data_interval_end: string | null;
  run_after: string;
  partition_key: string | null;
};

let server: ServerProcess;
let compiler: Compiler;
let token = '';
let folder = '';
let closeAll: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  const database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'svc-author-code-'));
  const python = await pythonEnvironment();
  compiler = createCompiler({ python });
  server = await startServerProcess({
    settings: { 'database.url': database.url, 'executor.type': 'subprocess', 'logs.dir': join(folder, 'logs'), python },
  });
  closeAll = async () => {
    await compiler.close();
    await server.stop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  await server.untilReady();
  const login = { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password };
  token = (await request<{ access_token: string }>('POST', '/auth/token', login)).access_token;
}, 120_000);

afterAll(() => closeAll());

async function send(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await send(method, path, body);
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const api = <T>(method: string, path: string, body?: object): Promise<T> => request(method, `/api/v2${path}`, body);

/** Compiles the file and registers what is in it; unpaused. */
async function deploy(name: string, text: string): Promise<void> {
  const place = join(folder, 'projects', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, `${name}.py`), text);
  for (const result of await compileWorkspace({ workspace: place, compiler })) {
    if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('\n'));
    for (const { dagId, spec, warnings } of result.artifacts) {
      await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: join(place, spec.source.path), warnings });
      await api('PATCH', `/dags/${dagId}`, { is_paused: false });
    }
  }
}

const runsOf = async (dagId: string): Promise<Run[]> =>
  (await api<{ dag_runs: Run[] }>('GET', `/dags/${dagId}/dagRuns?order_by=run_after`)).dag_runs;

/** Every third hour; it names its runs, and asks for nothing before it was asked. */
const THIRD_HOURS = `
from datetime import timedelta
import pendulum
from airflow.sdk import DAG, task
from airflow.timetables.base import DagRunInfo, DataInterval, Timetable

THREE = timedelta(hours=3)

class ThirdHours(Timetable):
    description = "Every third hour"

    def __init__(self, name="x", broken_after=None):
        self.name = name
        self.broken_after = broken_after

    @property
    def summary(self):
        return f"third hours of {self.name}"

    def serialize(self):
        return {"name": self.name}

    @classmethod
    def deserialize(cls, data):
        return cls(data["name"])

    def infer_manual_data_interval(self, *, run_after):
        if self.name == "sulks":
            raise RuntimeError("no manual runs on my watch")
        start = run_after.start_of("day")
        return DataInterval(start=start, end=start + timedelta(days=1))

    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        start = restriction.earliest if last_automated_data_interval is None else last_automated_data_interval.end
        if restriction.latest is not None and start > restriction.latest:
            return None
        # It may start an hour after its interval has ended.
        return DagRunInfo(run_after=start + THREE + timedelta(hours=1), data_interval=DataInterval(start, start + THREE))

    def generate_run_id(self, *, run_type, run_after, data_interval, **extra):
        return f"{run_type}-{self.name}-{data_interval.start.format('YYYYMMDDTHH')}"
`;

describe('a timetable class of the author', () => {
  it('makes scheduled runs with its intervals and ids, and goes on when its table has run out', async () => {
    // 120 runs until now: more than the table of 100 that is compiled.
    const start = new Date(Date.now() - 120 * 3 * 3_600_000 - 1_800_000).toISOString().slice(0, 13);
    await deploy(
      'hours',
      `${THIRD_HOURS}
from airflow.providers.standard.operators.empty import EmptyOperator
with DAG("hours", schedule=ThirdHours("hours"), start_date=pendulum.parse("${start}:00:00Z"), catchup=True, max_active_runs=16):
    EmptyOperator(task_id="nothing")
`,
    );
    const dag = await api<Record<string, unknown>>('GET', '/dags/hours/details');
    expect(dag).toMatchObject({ timetable_summary: 'third hours of hours', timetable_description: 'Every third hour' });
    const count = async () =>
      (await api<{ total_entries: number }>('GET', '/dags/hours/dagRuns?limit=1')).total_entries;
    await eventually(async () => expect(await count()).toBeGreaterThanOrEqual(119), { withinMs: 100_000 });
    expect(await count()).toBeLessThanOrEqual(120);
    const [first] = await runsOf('hours');
    expect(first?.dag_run_id).toBe(`scheduled-hours-${start.replaceAll('-', '')}`);
    const [from, to, after] = [first?.data_interval_start, first?.data_interval_end, first?.run_after].map((text) =>
      Date.parse(text ?? ''),
    );
    expect([(to ?? 0) - (from ?? 0), (after ?? 0) - (to ?? 0)]).toEqual([3 * 3_600_000, 3_600_000]);
    // None for a moment where a run has just come due and the timetable is asked for the one after it.
    await eventually(async () => {
      const next = await api<{ next_dagrun_run_after: string }>('GET', '/dags/hours');
      expect(Date.parse(next.next_dagrun_run_after)).toBeGreaterThan(Date.now());
    });
  }, 120_000);

  it('is no new version when it is compiled again', async () => {
    await deploy(
      'hours',
      `${THIRD_HOURS}
with DAG("again", schedule=ThirdHours("again"), start_date=pendulum.datetime(2026, 1, 1, tz="UTC")):
    @task
    def one(): ...
    one()
`,
    );
    const place = join(folder, 'projects', 'hours');
    const [unit] = await compileWorkspace({ workspace: place, compiler });
    if (!unit?.ok) throw new Error('it compiled before');
    const response = await send('POST', '/api/v2/dags/again/dagVersions', { spec: unit.artifacts[0]?.spec });
    expect(response.status).toBe(200);
  }, 120_000);

  it('is asked what a manual run covers; one that raises is told in words', async () => {
    await deploy(
      'manual',
      `${THIRD_HOURS}
for name in ("asked", "sulks"):
    with DAG(name, schedule=ThirdHours(name), start_date=pendulum.datetime(2036, 1, 1, tz="UTC")):
        @task
        def one(data_interval_start=None):
            return str(data_interval_start)
        one()
`,
    );
    const run = await api<Run>('POST', '/dags/asked/dagRuns', { logical_date: '2026-03-05T07:08:09Z' });
    expect(run).toMatchObject({
      dag_run_id: 'manual-asked-20260305T00',
      logical_date: '2026-03-05T07:08:09.000000Z',
      data_interval_start: '2026-03-05T00:00:00.000000Z',
      data_interval_end: '2026-03-06T00:00:00.000000Z',
    });
    await eventually(async () => expect((await runsOf('asked')).map(({ state }) => state)).toEqual(['success']));
    const refused = await send('POST', '/api/v2/dags/sulks/dagRuns', {});
    expect(refused.status).toBe(409);
    expect(((await refused.json()) as { detail: string }).detail).toContain('no manual runs on my watch');
    const given = { data_interval_start: '2026-03-05T00:00:00Z', data_interval_end: '2026-03-06T00:00:00Z' };
    expect((await send('POST', '/api/v2/dags/sulks/dagRuns', given)).status).toBe(200);
  }, 120_000);

  it('is asked for the runs of a backfill', async () => {
    const range = { dag_id: 'asked', from_date: '2026-02-01T00:00:00Z', to_date: '2026-02-01T12:00:00Z' };
    const dry = await api<{ backfills: { logical_date: string }[] }>('POST', '/backfills/dry_run', range);
    expect(dry.backfills.map(({ logical_date: date }) => date.slice(11, 13))).toEqual(['00', '03', '06', '09', '12']);
    await api('POST', '/backfills', range);
    const ids = (await runsOf('asked')).map(({ dag_run_id: id }) => id);
    expect(ids).toContain('backfill-asked-20260201T09');
  }, 120_000);

  it('that raises while the file is compiled is an error at its line', async () => {
    const text = `${THIRD_HOURS}
class Raises(ThirdHours):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        return 1 / 0

with DAG("raises", schedule=Raises(), start_date=pendulum.datetime(2026, 1, 1, tz="UTC")):
    pass
`;
    await expect(deploy('raises', text)).rejects.toThrow(/Raises raised ZeroDivisionError in next_dagrun_info\(\)/);
  });
});

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
      await api<{ value: unknown }>(
        'GET',
        `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`,
      )
    ).value;
  const succeeded = async (dagId: string, count: number): Promise<Run[]> => {
    const runs = async () => (await runsOf(dagId)).filter(({ state }) => state === 'success');
    await eventually(async () => expect(await runs()).toHaveLength(count));
    return runs();
  };

  it('a cron schedule of partitions makes runs with keys and without dates, and their events have the key', async () => {
    await deploy(
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
    expect(await api('GET', '/dags/producer')).toMatchObject({ timetable_partitioned: true });
    const filtered = await api<{ total_entries: number }>(
      'GET',
      '/dags/producer/dagRuns?partition_key_pattern=2026-05-07',
    );
    expect(filtered.total_entries).toBe(2);
  }, 120_000);

  it('a DAG on partitioned assets runs for a key when all its assets have it, after mapping', async () => {
    const waiting = await request<{ partitioned_dag_runs: { partition_key: string }[] }>(
      'GET',
      '/ui/partitioned_dag_runs?dag_id=consumer&has_created_dag_run_id=false',
    );
    const byKey = waiting.partitioned_dag_runs.toSorted((a, b) => (a.partition_key < b.partition_key ? 1 : -1));
    expect(byKey).toMatchObject([
      { partition_key: '2026-05-07', total_received: 1, total_required: 2, created_dag_run_id: null },
      { partition_key: '2026-05-06', total_received: 1, total_required: 2, created_dag_run_id: null },
    ]);
    const detail = await request('GET', '/ui/pending_partitioned_dag_run/consumer/2026-05-07');
    expect(detail).toMatchObject({
      assets: [
        { asset_name: 'hourly', received: true },
        { asset_name: 'other', received: false },
      ],
      asset_expression: { all: [{ asset: { name: 'hourly' } }, { asset: { name: 'other' } }] },
    });
    const { assets } = await api<{ assets: { id: number; name: string }[] }>('GET', '/assets?name_pattern=other');
    const assetId = assets.find(({ name }) => name === 'other')?.id;
    await api('POST', '/assets/events', { asset_id: assetId, extra: {} }); // without a key: nobody's
    await api('POST', '/assets/events', { asset_id: assetId, partition_key: '2026-05-07', extra: {} });
    const [run] = await succeeded('consumer', 1);
    expect(run).toMatchObject({ partition_key: '2026-05-07', run_type: 'asset_triggered', logical_date: null });
    expect(await valueOf('consumer', run?.dag_run_id ?? '', 'use')).toEqual({
      key: '2026-05-07',
      events: ['2026-05-07', '2026-05-07T00:00:00', '2026-05-07T06:00:00'],
    });
    const created = await request('GET', '/ui/partitioned_dag_runs?dag_id=consumer&has_created_dag_run_id=true');
    expect(created).toMatchObject({
      partitioned_dag_runs: [{ partition_key: '2026-05-07', state: 'success', created_dag_run_id: run?.dag_run_id }],
    });
    expect(await runsOf('by_nobody')).toEqual([]); // events of partitions are not for it
  }, 120_000);

  it('a key that no mapper takes is a warning in words; a manual run may name its key', async () => {
    const { assets } = await api<{ assets: { id: number; name: string }[] }>('GET', '/assets?name_pattern=hourly');
    const assetId = assets.find(({ name }) => name === 'hourly')?.id;
    await api('POST', '/assets/events', { asset_id: assetId, partition_key: 'yesterday', extra: {} });
    const { dag_warnings: warnings } = await api<{ dag_warnings: { message: string }[] }>(
      'GET',
      '/dagWarnings?dag_id=consumer',
    );
    expect(warnings.map(({ message }) => message)).toEqual([
      'an event of asset "hourly" starts no run: the partition key "yesterday" does not have the form "%Y-%m-%dT%H:%M:%S"',
    ]);
    const run = await api<Run>('POST', '/dags/producer/dagRuns', { partition_key: '2026-05-06T23:00:00' });
    expect(run.partition_key).toBe('2026-05-06T23:00:00');
    await eventually(async () => {
      const found = await request<{ partitioned_dag_runs: { partition_key: string }[] }>(
        'GET',
        '/ui/partitioned_dag_runs?dag_id=consumer&has_created_dag_run_id=false',
      );
      expect(found.partitioned_dag_runs).toHaveLength(1);
      expect((await runsOf('producer')).every(({ state }) => state === 'success')).toBe(true);
    });
  }, 120_000);

  it('a backfill names the partitions it would run, and runs those without a run', async () => {
    const range = { dag_id: 'producer', from_date: '2026-05-07T00:00:00Z', to_date: '2026-05-07T18:00:00Z' };
    const dry = await api<{ backfills: unknown[] }>('POST', '/backfills/dry_run', range);
    expect(dry.backfills).toEqual([
      {
        logical_date: null,
        partition_key: '2026-05-07T12:00:00',
        partition_date: expect.stringContaining('2026-05-07T12'),
      },
    ]);
    await api('POST', '/backfills', range);
    const ids = (await runsOf('producer')).map(({ dag_run_id: id }) => id);
    expect(
      ids.filter((id) => id.startsWith('backfill__2026-05-07T18:00:00+00:00__2026-05-07T12:00:00__')),
    ).toHaveLength(1);
  }, 120_000);
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
    const { assets } = await api<{ assets: { id: number; name: string }[] }>('GET', `/assets?name_pattern=${name}`);
    const assetId = assets.find((asset) => asset.name === name)?.id;
    for (const key of keys) await api('POST', '/assets/events', { asset_id: assetId, partition_key: key, extra: {} });
  };
  const keysOf = async (dagId: string): Promise<(string | null)[]> =>
    (await runsOf(dagId)).map(({ partition_key: key }) => key).toSorted();

  it('is asked by a worker, for one run or several; what it inherits answers, and what it raises is told', async () => {
    await deploy('own_mappers', OWN_MAPPERS);
    await happened('own-sales', 'eu::2026-05-07', 'all::2026-05-08', 'without region');
    await eventually(async () =>
      expect(await keysOf('own_mapper')).toEqual(['2026-05-07', '2026-05-08-north', '2026-05-08-south']),
    );
    // The last key may be asked about by itself, after the others.
    await eventually(async () => {
      const { dag_warnings: warnings } = await api<{ dag_warnings: { message: string }[] }>(
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
    await eventually(async () => expect(await keysOf('own_months')).toEqual(['report of 2026-05']));
  }, 120_000);
});

const PLUGIN = `
from pathlib import Path
from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin
from airflow.sdk import conf

def shout(text):
    return text.upper()

class Ears:
    heard = Path(__file__).with_name("heard.txt")
    def note(self, *words):
        with self.heard.open("a") as file:
            file.write(" ".join(map(str, words)) + "\\n")
    @hookimpl
    def on_task_instance_running(self, previous_state, task_instance):
        self.note("running", task_instance.task_id, previous_state)
    @hookimpl
    def on_task_instance_success(self, task_instance):
        self.note("success", task_instance.task_id)
    @hookimpl
    def on_task_instance_failed(self, task_instance, error):
        self.note("failed", task_instance.task_id, error)
        raise RuntimeError("a listener may fail")

class Mine(AirflowPlugin):
    name = "mine"
    macros = [shout]
    listeners = [Ears()]
    fastapi_apps = [{"name": "x"}]
`;

describe('a plugin', () => {
  const valueOf = async (run: Run, taskId: string): Promise<string> =>
    (
      await send(
        'GET',
        `/api/v2/dags/plugged/dagRuns/${encodeURIComponent(run.dag_run_id)}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`,
      )
    ).text();

  it('gives templates its macros and hears of tasks in their processes; large numbers of params stay exact', async () => {
    const plugins = join(folder, 'projects', 'plugged', 'plugins');
    mkdirSync(plugins, { recursive: true });
    writeFileSync(join(plugins, 'mine_plugin.py'), PLUGIN);
    writeFileSync(
      join(plugins, 'broken.py'),
      'from airflow.plugins_manager import AirflowPlugin\n\nraise RuntimeError("broken on purpose")\n',
    );
    await deploy(
      'plugged',
      `
from airflow.sdk import DAG, Param, task
from airflow.providers.standard.operators.bash import BashOperator
def twice(text):
    return text + text
with DAG("plugged", schedule=None, user_defined_macros={"twice": twice}, user_defined_filters={"first": lambda text: text[0]},
         params={"big": Param(9007199254740993, type="integer", maximum=2**70), "given": Param(1, type="integer")}):
    BashOperator(task_id="speak", bash_command="echo {{ macros.mine.shout('hello') }} {{ twice('ab') }} {{ 'xyz' | first }}")
    @task
    def numbers(params=None):
        return [params["big"] + 1, params["given"] - 1]
    @task(retries=0)
    def fails():
        raise ValueError("on purpose")
    numbers(); fails()
`,
    );
    const response = await fetch(`${server.url}/api/v2/dags/plugged/dagRuns`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"conf": {"given": 1180591620717411303424}}',
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('1180591620717411303424');
    await eventually(async () => expect((await runsOf('plugged'))[0]?.state).toBe('failed'));
    const [run] = await runsOf('plugged');
    if (!run) throw new Error('there is a run');
    expect(await valueOf(run, 'speak')).toContain('"HELLO abab x"');
    expect(await valueOf(run, 'numbers')).toContain('[9007199254740994,1180591620717411303423]');
    expect(await (await send('GET', '/api/v2/dags/plugged/details')).text()).toContain('9007199254740993');
    const heard = readFileSync(join(plugins, 'heard.txt'), 'utf8').trim().split('\n').toSorted();
    expect(heard).toEqual([
      'failed fails on purpose',
      'running fails queued',
      'running numbers queued',
      'running speak queued',
      'success numbers',
      'success speak',
    ]);
    const listed = await api<{ plugins: Record<string, unknown>[] }>('GET', '/plugins');
    expect(listed.plugins).toMatchObject([
      { name: 'mine', macros: ['mine_plugin.shout'], listeners: ['Ears'], fastapi_apps: [] },
    ]);
    expect(await api('GET', '/plugins/importErrors')).toMatchObject({
      import_errors: [{ error: 'RuntimeError: broken on purpose' }],
    });
    const { dag_warnings: warnings } = await api<{ dag_warnings: { message: string }[] }>(
      'GET',
      '/dagWarnings?dag_id=plugged',
    );
    expect(warnings.map(({ message }) => message).join()).toContain('plugin mine: fastapi_apps are not loaded');
  }, 120_000);
});
