/**
 * Code of authors that decides about runs, on a real control plane with real Python processes: a timetable class of their own,
 * asked in the compiler's sandbox and by workers, never in the control plane; plugins in the processes of tasks.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startAuthorCodeServer } from '@svc/testing/server/author-code-server.ts';
import type { AuthorCodeServer, AuthorRun } from '@svc/testing/server/author-code-server.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let server: AuthorCodeServer;

beforeAll(async () => {
  server = await startAuthorCodeServer();
}, 400_000);

afterAll(() => server.close());

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
    await server.deploy(
      'hours',
      `${THIRD_HOURS}
from airflow.providers.standard.operators.empty import EmptyOperator
with DAG("hours", schedule=ThirdHours("hours"), start_date=pendulum.parse("${start}:00:00Z"), catchup=True, max_active_runs=16):
    EmptyOperator(task_id="nothing")
`,
    );
    const dag = await server.api<Record<string, unknown>>('GET', '/dags/hours/details');
    expect(dag).toMatchObject({ timetable_summary: 'third hours of hours', timetable_description: 'Every third hour' });
    const count = async () =>
      (await server.api<{ total_entries: number }>('GET', '/dags/hours/dagRuns?limit=1')).total_entries;
    await eventually(async () => expect(await count()).toBeGreaterThanOrEqual(119), { withinMs: 120_000 });
    expect(await count()).toBeLessThanOrEqual(120);
    const [first] = await server.runsOf('hours');
    expect(first?.dag_run_id).toBe(`scheduled-hours-${start.replaceAll('-', '')}`);
    const [from, to, after] = [first?.data_interval_start, first?.data_interval_end, first?.run_after].map((text) =>
      Date.parse(text ?? ''),
    );
    expect([(to ?? 0) - (from ?? 0), (after ?? 0) - (to ?? 0)]).toEqual([3 * 3_600_000, 3_600_000]);
    // None for a moment where a run has just come due and the timetable is asked for the one after it.
    await eventually(async () => {
      const next = await server.api<{ next_dagrun_run_after: string }>('GET', '/dags/hours');
      expect(Date.parse(next.next_dagrun_run_after)).toBeGreaterThan(Date.now());
    });
  }, 400_000);

  it('is no new version when it is compiled again', async () => {
    await server.deploy(
      'hours',
      `${THIRD_HOURS}
with DAG("again", schedule=ThirdHours("again"), start_date=pendulum.datetime(2026, 1, 1, tz="UTC")):
    @task
    def one(): ...
    one()
`,
    );
    const place = server.placeOf('hours');
    const [unit] = await compileWorkspace({ workspace: place, compiler: server.compiler });
    if (!unit?.ok) throw new Error('it compiled before');
    const response = await server.send('POST', '/api/v2/dags/again/dagVersions', { spec: unit.artifacts[0]?.spec });
    expect(response.status).toBe(200);
  }, 400_000);

  it('is asked what a manual run covers; one that raises is told in words', async () => {
    await server.deploy(
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
    const day = { logical_date: '2026-03-05T07:08:09Z' };
    // A worker that is slow to start is not waited for without end: the caller asks again.
    const run = await eventually(() => server.api<AuthorRun>('POST', '/dags/asked/dagRuns', day));
    expect(run).toMatchObject({
      dag_run_id: 'manual-asked-20260305T00',
      logical_date: '2026-03-05T07:08:09.000000Z',
      data_interval_start: '2026-03-05T00:00:00.000000Z',
      data_interval_end: '2026-03-06T00:00:00.000000Z',
    });
    await eventually(
      async () => expect((await server.runsOf('asked')).map(({ state }) => state)).toEqual(['success']),
      {
        withinMs: 120_000,
      },
    );
    await eventually(async () => {
      const refused = await server.send('POST', '/api/v2/dags/sulks/dagRuns', {});
      expect(refused.status).toBe(409);
      expect(((await refused.json()) as { detail: string }).detail).toContain('no manual runs on my watch');
    });
    const given = { data_interval_start: '2026-03-05T00:00:00Z', data_interval_end: '2026-03-06T00:00:00Z' };
    expect((await server.send('POST', '/api/v2/dags/sulks/dagRuns', given)).status).toBe(200);
  }, 400_000);

  it('is asked for the runs of a backfill', async () => {
    const range = { dag_id: 'asked', from_date: '2026-02-01T00:00:00Z', to_date: '2026-02-01T12:00:00Z' };
    const dry = await eventually(() =>
      server.api<{ backfills: { logical_date: string }[] }>('POST', '/backfills/dry_run', range),
    );
    expect(dry.backfills.map(({ logical_date: date }) => date.slice(11, 13))).toEqual(['00', '03', '06', '09', '12']);
    await eventually(() => server.api('POST', '/backfills', range).then(() => true));
    const ids = (await server.runsOf('asked')).map(({ dag_run_id: id }) => id);
    expect(ids).toContain('backfill-asked-20260201T09');
  }, 400_000);

  it('that raises while the file is compiled is an error at its line', async () => {
    const text = `${THIRD_HOURS}
class Raises(ThirdHours):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        return 1 / 0

with DAG("raises", schedule=Raises(), start_date=pendulum.datetime(2026, 1, 1, tz="UTC")):
    pass
`;
    await expect(server.deploy('raises', text)).rejects.toThrow(
      /Raises raised ZeroDivisionError in next_dagrun_info\(\)/,
    );
  });
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
    @hookimpl
    def on_starting(self, component):
        self.started = True
    @hookimpl
    def on_dag_run_running(self, dag_run, msg):
        self.note("run", dag_run.state, dag_run.run_id.startswith("manual__"), repr(msg), self.started, dag_run.end_date)
    @hookimpl
    def on_dag_run_success(self, dag_run, msg):
        self.note("run", dag_run.state, repr(msg), dag_run.dag.dag_id)
    @hookimpl
    def on_dag_run_failed(self, dag_run, msg):
        states = sorted(f"{ti.task_id}={ti.state}" for ti in dag_run.get_task_instances())
        self.note("run", dag_run.state, repr(msg), dag_run.triggered_by.value, *states)

class Mine(AirflowPlugin):
    name = "mine"
    macros = [shout]
    listeners = [Ears()]
    fastapi_apps = [{"name": "x"}]
`;

describe('a plugin', () => {
  const valueOf = async (run: AuthorRun, taskId: string): Promise<string> =>
    (
      await server.send(
        'GET',
        `/api/v2/dags/plugged/dagRuns/${encodeURIComponent(run.dag_run_id)}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`,
      )
    ).text();

  it('gives templates its macros and hears of tasks in their processes; large numbers of params stay exact', async () => {
    const plugins = join(server.placeOf('plugged'), 'plugins');
    mkdirSync(plugins, { recursive: true });
    writeFileSync(join(plugins, 'mine_plugin.py'), PLUGIN);
    writeFileSync(
      join(plugins, 'broken.py'),
      'from airflow.plugins_manager import AirflowPlugin\n\nraise RuntimeError("broken on purpose")\n',
    );
    await server.deploy(
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
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: '{"conf": {"given": 1180591620717411303424}}',
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('1180591620717411303424');
    await eventually(async () => expect((await server.runsOf('plugged'))[0]?.state).toBe('failed'), {
      withinMs: 120_000,
    });
    const [run] = await server.runsOf('plugged');
    if (!run) throw new Error('there is a run');
    expect(await valueOf(run, 'speak')).toContain('"HELLO abab x"');
    expect(await valueOf(run, 'numbers')).toContain('[9007199254740994,1180591620717411303423]');
    expect(await (await server.send('GET', '/api/v2/dags/plugged/details')).text()).toContain('9007199254740993');
    const heard = (): string[] => readFileSync(join(plugins, 'heard.txt'), 'utf8').trim().split('\n');
    await eventually(async () => expect(heard()).toHaveLength(8), { withinMs: 120_000 });
    expect(heard().filter((line) => line.startsWith('run '))).toEqual([
      "run running True '' True None",
      "run failed 'task_failure' rest_api fails=failed numbers=success speak=success",
    ]);
    expect(
      heard()
        .filter((line) => !line.startsWith('run '))
        .toSorted(),
    ).toEqual([
      'failed fails on purpose',
      'running fails queued',
      'running numbers queued',
      'running speak queued',
      'success numbers',
      'success speak',
    ]);
    const listed = await server.api<{ plugins: Record<string, unknown>[] }>('GET', '/plugins');
    expect(listed.plugins).toMatchObject([
      { name: 'mine', macros: ['mine_plugin.shout'], listeners: ['Ears'], fastapi_apps: [] },
      { name: 'svc', source: 'svc' },
    ]);
    expect(await server.api('GET', '/plugins/importErrors')).toMatchObject({
      import_errors: [{ error: 'RuntimeError: broken on purpose' }],
    });
    const log = await server.send(
      'GET',
      `/api/v2/dags/plugged/dagRuns/${encodeURIComponent(run.dag_run_id)}/taskInstances/numbers/logs/1`,
    );
    expect(await log.text()).toContain(
      'The plugin $PLUGINS_FOLDER/broken.py is not there, with all that it would bring',
    );
    const { dag_warnings: warnings } = await server.api<{ dag_warnings: { message: string }[] }>(
      'GET',
      '/dagWarnings?dag_id=plugged',
    );
    const told = warnings.map(({ message }) => message).join();
    expect(told).toContain('plugin mine: fastapi_apps are not loaded');
    expect(told).toContain('broken.py is not there, with all that it would bring: RuntimeError: broken on purpose');
    // Somebody decides about the run: those who listen hear of that, too.
    await server.api('PATCH', `/dags/plugged/dagRuns/${encodeURIComponent(run.dag_run_id)}`, { state: 'success' });
    await eventually(async () => expect(heard().at(-1)).toBe("run success '' plugged"), { withinMs: 120_000 });
  }, 400_000);
});
