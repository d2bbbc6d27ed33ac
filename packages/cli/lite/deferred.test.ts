/** Tasks that wait for triggers, in a real lite: without a process and without a slot, many to one triggerer. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { EVENTUALLY, runEnds, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';

/** Triggers in a module of the project, as Airflow wants them. */
const TRIGGERS = `
import asyncio, os
from airflow.sdk import Variable
from airflow.triggers.base import BaseEventTrigger, BaseTrigger, TaskFailedEvent, TaskSkippedEvent, TaskSuccessEvent, TriggerEvent

class FileAppears(BaseTrigger):
    def __init__(self, path, ends=None):
        super().__init__()
        self.path, self.ends = path, ends

    def serialize(self):
        return "waits.FileAppears", {"path": self.path, "ends": self.ends}

    async def run(self):
        self.log.info("looking for %s as process %s", os.path.basename(self.path), os.getpid())
        while not os.path.exists(self.path):
            await asyncio.sleep(0.05)
        text = open(self.path).read()
        if self.ends == "success":
            yield TaskSuccessEvent(xcoms={"found": text})
        elif self.ends == "skipped":
            yield TaskSkippedEvent()
        elif self.ends == "failed":
            yield TaskFailedEvent()
        else:
            yield TriggerEvent({"text": text, "pid": os.getpid(), "variable": Variable.get("waited_for")})

    async def on_kill(self):
        with open(self.path + ".killed", "w") as file:
            file.write(Variable.get("waited_for"))

    async def cleanup(self):
        open(self.path + ".cleaned", "w").close()

class LinesOf(BaseEventTrigger):
    def __init__(self, path):
        super().__init__()
        self.path, self.seen = path, 0

    def serialize(self):
        return "waits.LinesOf", {"path": self.path}

    async def run(self):
        while True:
            await asyncio.sleep(0.05)
            lines = open(self.path).read().splitlines() if os.path.exists(self.path) else []
            for line in lines[self.seen:]:
                yield TriggerEvent({"line": line})
            self.seen = len(lines)

def is_late(path, context):
    with open(path, "w") as file:
        file.write(context["dag_run"].run_id)

async def is_late_async(path, context):
    await asyncio.sleep(0)
    with open(path, "w") as file:
        file.write(context["dag_run"]["run_id"])

class Breaks(BaseTrigger):
    def serialize(self):
        return "waits.Breaks", {}

    async def run(self):
        raise ValueError("trigger broke")
        yield
`;

const DAG = (folder: string): string => `
import datetime, os
from airflow.sdk import Asset, AssetWatcher, AsyncCallback, BaseOperator, DeadlineAlert, DeadlineReference, SyncCallback, dag, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.sensors.external_task import ExternalTaskSensor
from airflow.providers.standard.sensors.date_time import DateTimeSensorAsync
from airflow.providers.standard.sensors.time_delta import WaitSensor
from airflow.triggers.base import StartTriggerArgs
from waits import Breaks, FileAppears, LinesOf

HERE = ${JSON.stringify(folder)}

class Waits(BaseOperator):
    def __init__(self, name, trigger=None, ends=None, wait=None, **kwargs):
        super().__init__(**kwargs)
        self.name, self.trigger_class, self.ends, self.wait = name, trigger, ends, wait

    def execute(self, context):
        print("begun")
        trigger = self.trigger_class() if self.trigger_class else FileAppears(
            os.path.join(HERE, f"{context['dag_run'].conf.get('id', 'any')}.{self.name}"), self.ends)
        self.defer(trigger=trigger, method_name="go_on", kwargs={"since": datetime.datetime(2026, 1, 1)},
            timeout=self.wait and datetime.timedelta(seconds=self.wait))

    def go_on(self, context, since, event):
        print("resumed")
        return {**event, "since": since.isoformat(), "worker": os.getpid()}

@dag(schedule=None, max_active_tasks=1)
def waits_for_files():
    Waits(task_id="first", name="a")
    Waits(task_id="second", name="b")

@dag(schedule=None)
def ends_by_trigger():
    Waits(task_id="succeeds", name="a", ends="success")
    Waits(task_id="skips", name="a", ends="skipped")
    Waits(task_id="fails", name="a", ends="failed", retries=2)

@dag(schedule=None)
def goes_wrong():
    Waits(task_id="broken", name="a", trigger=Breaks)
    Waits(task_id="late", name="never", wait=0.3)

@dag(schedule=None)
def waits_for_times():
    DateTimeSensorAsync(task_id="moment", target_time="{{ (dag_run.run_after + macros.timedelta(seconds=dag_run.conf['seconds'])).isoformat() }}")
    WaitSensor(task_id="wait", time_to_wait=datetime.timedelta(seconds=15), deferrable=True)

class Starts(BaseOperator):
    start_from_trigger = True
    start_trigger_args = StartTriggerArgs(
        trigger_cls="waits.FileAppears", trigger_kwargs={"path": os.path.join(HERE, "start")}, next_method="go_on",
        next_kwargs={"since": datetime.datetime(2026, 1, 1)})

    def execute(self, context):
        raise AssertionError("nothing runs before the event")

    def go_on(self, context, since, event):
        return {"text": event["text"], "since": since.isoformat(), "try": context["ti"].try_number}

@dag(schedule=None)
def starts_from_trigger():
    moment = DateTimeSensorAsync(task_id="moment", target_time="2026-01-01T00:00:00+00:00", start_from_trigger=True)
    moment >> Starts(task_id="starts")

# Nobody looks again within the hour: it is told.
@dag(schedule=None)
def waits_for_others():
    TriggerDagRunOperator(task_id="starts", trigger_dag_id="is_waited_for", wait_for_completion=True, deferrable=True,
        logical_date="{{ logical_date.isoformat() }}", poke_interval=3600)
    ExternalTaskSensor(task_id="sees", external_dag_id="is_waited_for", external_task_id="slow", deferrable=True,
        poll_interval=3600)

@dag(schedule=None)
def is_waited_for():
    Waits(task_id="slow", name="other")

queue = Asset("queue", watchers=[AssetWatcher(name="lines", trigger=LinesOf(os.path.join(HERE, "lines")))])
again = Asset("again", watchers=[AssetWatcher(name="same", trigger=LinesOf(os.path.join(HERE, "lines")))])

@dag(schedule=[queue])
def reads_queue():
    @task
    def lines(triggering_asset_events=None):
        return [event.extra["payload"]["line"] for events in triggering_asset_events.values() for event in events]
    lines()

@dag(schedule=[again])
def reads_again():
    EmptyOperator(task_id="nothing")

SOON = datetime.timedelta(seconds=0.5)

@dag(schedule=None, deadline=[
    DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, SOON, SyncCallback("waits.is_late", {"path": os.path.join(HERE, "late.sync")})),
    DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, SOON, AsyncCallback("waits.is_late_async", {"path": os.path.join(HERE, "late.async")})),
    DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, datetime.timedelta(hours=1), SyncCallback("waits.is_late", {"path": os.path.join(HERE, "late.never")})),
])
def is_too_slow():
    Waits(task_id="slow", name="a")

reads_queue(); reads_again(); is_too_slow(); starts_from_trigger(); waits_for_others(); is_waited_for()
waits_for_files(); ends_by_trigger(); goes_wrong(); waits_for_times()
`;

type Instance = {
  task_id: string;
  state: string;
  try_number: number;
  start_date: string;
  trigger: { id: number; classpath: string; kwargs: string; triggerer_id: number | null } | null;
  triggerer_job: { id: number; job_type: string; hostname: string } | null;
};

let lite: LiteInstance;
let files: string;
/** Begun first and looked at last. */
let timesRun: string;
const WAITED_SECONDS = 15;
/** A task that begins later than this after its run is a failure, also on a busy machine. */
const LONGEST_SECONDS = 60;
const LINES_COME_WITHIN_MS = 20_000;
beforeAll(async () => {
  lite = await startLite({ examples: [], dags: { 'waits.py': TRIGGERS } });
  files = join(lite.directory, 'files');
  mkdirSync(files);
  chmodSync(files, 0o777);
  lite.writeDag('dag.py', DAG(files));
  await lite.api('POST', '/variables', { key: 'waited_for', value: 'seven' });
  const known = async (): Promise<number> => (await lite.api<{ total_entries: number }>('GET', '/dags')).total_entries;
  await eventually(async () => (await known()) === 10, { withinMs: EVENTUALLY.timeout });
  timesRun = await trigger('waits_for_times', 'four', WAITED_SECONDS);
}, 600_000);
afterAll(() => lite?.stop());

async function trigger(dagId: string, id: string, seconds?: number): Promise<string> {
  await lite.api('PATCH', `/dags/${dagId}`, { is_paused: false });
  const body = { conf: { id, seconds } };
  return (await lite.api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, body)).dag_run_id;
}
/** At once with all that is in it: whoever waits for it may read it the moment it is there. */
function appear(name: string, text: string): void {
  writeFileSync(join(files, `.${name}`), text);
  renameSync(join(files, `.${name}`), join(files, name));
}
const pathOf = (dagId: string, runId: string): string => `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
const instances = async (dagId: string, runId: string): Promise<Record<string, Instance>> => {
  const path = `${pathOf(dagId, runId)}/taskInstances`;
  const { task_instances: all } = await lite.api<{ task_instances: Instance[] }>('GET', path);
  return Object.fromEntries(all.map((one) => [one.task_id, one]));
};
const states = async (dagId: string, runId: string): Promise<Record<string, string>> =>
  Object.fromEntries(Object.values(await instances(dagId, runId)).map(({ task_id: id, state }) => [id, state]));
const xcom = async <T>(dagId: string, runId: string, task: string, key = 'return_value'): Promise<T> => {
  const path = `${pathOf(dagId, runId)}/taskInstances/${task}/xcomEntries/${key}?stringify=false`;
  return (await lite.api<{ value: T }>('GET', path)).value;
};
const log = async (dagId: string, runId: string, task: string): Promise<string> => {
  const path = `${lite.url}/api/v2${pathOf(dagId, runId)}/taskInstances/${task}/logs/1`;
  return (await fetch(path, { headers: { authorization: `Bearer ${await lite.login()}` } })).text();
};

describe('a deferred task', { timeout: 400_000 }, () => {
  it('holds no slot, is waited for by one process with others, and goes on as the same try with the event', async () => {
    const runId = await trigger('waits_for_files', 'one');
    // Both at once, although the DAG runs one task at a time.
    await expect
      .poll(() => states('waits_for_files', runId), EVENTUALLY)
      .toEqual({ first: 'deferred', second: 'deferred' });
    const held = async () => Object.values(await instances('waits_for_files', runId)).map((one) => one.triggerer_job);
    await expect.poll(async () => (await held()).every((job) => job !== null), EVENTUALLY).toBe(true);
    const { first } = await instances('waits_for_files', runId);
    expect(first?.trigger).toMatchObject({ classpath: 'waits.FileAppears', triggerer_id: first?.triggerer_job?.id });
    expect(first?.triggerer_job).toMatchObject({ job_type: 'TriggererJob' });
    const health = async () => lite.api<{ triggerer: { status: string } }>('GET', '/monitor/health');
    await expect.poll(async () => (await health()).triggerer.status, EVENTUALLY).toBe('healthy');

    appear('one.a', 'A');
    appear('one.b', 'B');
    await runEnds(lite.api, 'waits_for_files', runId);
    type Said = { text: string; pid: number; worker: number; variable: string; since: string };
    const [a, b] = [
      await xcom<Said>('waits_for_files', runId, 'first'),
      await xcom<Said>('waits_for_files', runId, 'second'),
    ];
    expect([a.text, b.text, a.variable, a.since]).toEqual(['A', 'B', 'seven', '2026-01-01T00:00:00']);
    expect([a.pid === b.pid, a.pid === a.worker]).toEqual([true, false]);
    const after = (await instances('waits_for_files', runId))['first'];
    expect([after?.try_number, after?.start_date, after?.trigger]).toEqual([1, first?.start_date, null]);
    // The lines of the triggerer come by a way of their own.
    await eventually(async () => {
      const text = await log('waits_for_files', runId, 'first');
      const said = ['begun', 'looking for one.a', 'resumed'].map((line) => text.indexOf(line));
      expect(said.every((place) => place >= 0)).toBe(true);
      expect(said).toEqual(said.toSorted((one, other) => one - other));
    });
  });

  it('is ended by its trigger when that says so, with its values and without another process', async () => {
    const runId = await trigger('ends_by_trigger', 'two');
    appear('two.a', 'text');
    await runEnds(lite.api, 'ends_by_trigger', runId, 'failed');
    expect(await states('ends_by_trigger', runId)).toEqual({ succeeds: 'success', skips: 'skipped', fails: 'failed' });
    expect(await xcom('ends_by_trigger', runId, 'succeeds', 'found')).toBe('text');
    expect(await log('ends_by_trigger', runId, 'succeeds')).not.toContain('resumed');
  });

  it('fails in words when its trigger fails or takes too long', async () => {
    const runId = await trigger('goes_wrong', 'three');
    await runEnds(lite.api, 'goes_wrong', runId, 'failed');
    for (const [task, words] of [
      ['broken', 'ValueError: trigger broke'],
      ['broken', 'TaskDeferralError'],
      ['late', 'TaskDeferralTimeout'],
    ] as const)
      await expect.poll(() => log('goes_wrong', runId, task), EVENTUALLY).toContain(words);
  });

  it('that starts from its trigger runs for the first time when that has fired', async () => {
    const runId = await trigger('starts_from_trigger', 'start');
    await expect
      .poll(() => states('starts_from_trigger', runId), EVENTUALLY)
      .toEqual({ moment: 'success', starts: 'deferred' });
    await expect.poll(() => log('starts_from_trigger', runId, 'starts'), EVENTUALLY).toContain('looking for start');
    appear('start', 'S');
    await runEnds(lite.api, 'starts_from_trigger', runId);
    const said = await xcom('starts_from_trigger', runId, 'starts');
    expect(said).toEqual({ text: 'S', since: '2026-01-01T00:00:00', try: 1 });
    expect(await log('starts_from_trigger', runId, 'starts')).not.toContain('DEFERRED');
  });

  it('that waits for a run of another DAG, or a task in it, goes on when that has ended', async () => {
    await lite.api('PATCH', '/dags/is_waited_for', { is_paused: false });
    const runId = await trigger('waits_for_others', 'others');
    const both = { starts: 'deferred', sees: 'deferred' };
    await expect.poll(() => states('waits_for_others', runId), EVENTUALLY).toEqual(both);
    const { starts, sees } = await instances('waits_for_others', runId);
    expect([starts?.trigger?.classpath, sees?.trigger?.classpath].map((path) => path?.split('.').at(-1))).toEqual([
      'DagStateTrigger',
      'WorkflowTrigger',
    ]);
    appear('any.other', 'A');
    await runEnds(lite.api, 'waits_for_others', runId);
    expect((await instances('waits_for_others', runId))['sees']?.triggerer_job).toBeNull();
  });

  it('that a person marks kills its trigger, which may still read variables; no other trigger is killed', async () => {
    const runId = await trigger('waits_for_files', 'five');
    await expect.poll(() => states('waits_for_files', runId), EVENTUALLY).toMatchObject({ first: 'deferred' });
    await expect.poll(() => log('waits_for_files', runId, 'first'), EVENTUALLY).toContain('looking for five.a');
    const mark = { new_state: 'success' };
    await lite.api('PATCH', `${pathOf('waits_for_files', runId)}/taskInstances/first`, mark);
    await expect.poll(() => readdirSync(files), EVENTUALLY).toContain('five.a.cleaned');
    expect(readdirSync(files).filter((name) => name.endsWith('.killed'))).toEqual(['five.a.killed']);
    expect(readFileSync(join(files, 'five.a.killed'), 'utf8')).not.toBe('');
    appear('five.b', 'B');
    await runEnds(lite.api, 'waits_for_files', runId);
  });

  it('outlives the triggerer: what it waited for is waited for by another', async () => {
    const runId = await trigger('waits_for_files', 'six');
    await expect.poll(() => log('waits_for_files', runId, 'first'), EVENTUALLY).toContain('looking for six.a');
    // Not the one of the test before: who has had nothing to do for a while leaves.
    const pid = Number(/looking for six\.a as process (\d+)/.exec(await log('waits_for_files', runId, 'first'))?.[1]);
    process.kill(pid, 'SIGKILL');
    appear('six.a', 'A');
    appear('six.b', 'B');
    await runEnds(lite.api, 'waits_for_files', runId);
    const said = await xcom<{ pid: number }>('waits_for_files', runId, 'first');
    expect(said.pid).not.toBe(pid);
  });

  it('that waits for a moment needs no triggerer', async () => {
    await runEnds(lite.api, 'waits_for_times', timesRun);
    // Its last lines follow its end.
    await expect.poll(() => log('waits_for_times', timesRun, 'wait')).toContain('DEFERRED');
    await momentIsWaitedFor(timesRun, WAITED_SECONDS);
  });
});

/** A busy machine may begin the task after the moment, which it then need not wait for: a later run has more time. */
async function momentIsWaitedFor(runId: string, seconds: number): Promise<void> {
  const isDeferred = async (): Promise<boolean> => (await log('waits_for_times', runId, 'moment')).includes('DEFERRED');
  const isSeen = await eventually(isDeferred, { withinMs: LINES_COME_WITHIN_MS }).catch(() => false);
  if (isSeen) return;
  const moreSeconds = seconds * 4;
  expect(moreSeconds, 'a task begins this many seconds after its run').toBeLessThanOrEqual(LONGEST_SECONDS);
  const later = await trigger('waits_for_times', `four-${moreSeconds}`, moreSeconds);
  await runEnds(lite.api, 'waits_for_times', later);
  await momentIsWaitedFor(later, moreSeconds);
}

describe('what a triggerer does beside', { timeout: 400_000 }, () => {
  const runs = async (dagId: string): Promise<{ dag_run_id: string; state: string }[]> =>
    (await lite.api<{ dag_runs: { dag_run_id: string; state: string }[] }>('GET', `/dags/${dagId}/dagRuns`)).dag_runs;

  it('an asset is watched while a DAG that uses it is not paused, and each event starts what waits for it', async () => {
    for (const dagId of ['reads_queue', 'reads_again']) await lite.api('PATCH', `/dags/${dagId}`, { is_paused: false });
    appear('lines', 'early\n');
    await expect
      .poll(async () => (await runs('reads_queue')).map(({ state }) => state), EVENTUALLY)
      .toEqual(['success']);
    // Two equal watchers are one trigger, and both assets have its event.
    await expect
      .poll(async () => (await runs('reads_again')).map(({ state }) => state), EVENTUALLY)
      .toEqual(['success']);
    const [run] = await runs('reads_queue');
    expect(await xcom('reads_queue', run?.dag_run_id ?? '', 'lines')).toEqual(['early']);
    const { asset_events: events } = await lite.api<{ asset_events: { extra: object }[] }>('GET', '/assets/events');
    expect(events.map(({ extra }) => extra)).toEqual(
      Array.from({ length: 2 }, () => ({ from_trigger: true, payload: { line: 'early' } })),
    );
  });

  it('a deadline that is missed calls its callbacks, once each; one that is not calls nothing', async () => {
    const runId = await trigger('is_too_slow', 'seven');
    const said = (): string[] =>
      readdirSync(files)
        .filter((name) => name.startsWith('late.'))
        .sort();
    await expect.poll(said, EVENTUALLY).toEqual(['late.async', 'late.sync']);
    await expect.poll(() => readFileSync(join(files, 'late.sync'), 'utf8'), EVENTUALLY).toBe(runId);
    await expect.poll(() => readFileSync(join(files, 'late.async'), 'utf8'), EVENTUALLY).toBe(runId);
    appear('seven.a', 'A');
    await runEnds(lite.api, 'is_too_slow', runId);
  });
});
