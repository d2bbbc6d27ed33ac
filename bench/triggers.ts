/**
 * Measures 1,000 tasks that wait for triggers in one triggerer: their cost while they wait, and the time from an event
 * to the continuation of its task. The first events come one by one, so that no queue for workers is measured. The
 * other events come at once at the end, as a burst that queues for workers.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { usageOf } from './process-usage.ts';

const BETWEEN_EVENTS_MS = 200;
/** The other tasks wait until these have continued, because the machine must not be busy with them. */
const MEASURED = 150;
/** From this event on, all events come at once. */
const LAST_IN_TURN = MEASURED + 10;
const PAGE = 100;

const TRIGGERS = `
import asyncio, os, time
from airflow.triggers.base import BaseTrigger, TriggerEvent

class InTurn(BaseTrigger):
    def __init__(self, go, number):
        super().__init__(go=go, number=number)
        self.go, self.number = go, number

    async def run(self):
        if self.number == 0:
            with open(self.go + ".pid", "w") as file:
                file.write(str(os.getpid()))
        while not os.path.exists(self.go):
            await asyncio.sleep(1)
        at = float(open(self.go).read()) + min(self.number, ${LAST_IN_TURN}) * ${BETWEEN_EVENTS_MS / 1_000}
        await asyncio.sleep(max(0, at - time.time()))
        yield TriggerEvent({"at": time.time(), "pid": os.getpid()})
`;

const DAG = (go: string, times: number): string => `
import time
from airflow.sdk import BaseOperator, dag
from in_turn import InTurn

class Waits(BaseOperator):
    def __init__(self, number, **kwargs):
        super().__init__(**kwargs)
        self.number = number

    def execute(self, context):
        self.defer(trigger=InTurn(${JSON.stringify(go)}, self.number), method_name="go_on")

    def go_on(self, context, event):
        return {"ms": (time.time() - event["at"]) * 1000, "pid": event["pid"]}

@dag(schedule=None, max_active_tasks=16)
def waits():
    Waits.partial(task_id="waits").expand(number=list(range(${times})))

waits()
`;

type Value = { ms: number; pid: number };

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  const times = number('times', 1_000);
  const lite = await startLite({ examples: [], dags: { 'in_turn.py': TRIGGERS } });
  try {
    const folder = join(lite.directory, 'go');
    await mkdir(folder);
    await chmod(folder, 0o777);
    const go = join(folder, 'now');
    lite.writeDag('waits.py', DAG(go, times));
    await until(async () => (await lite.api<{ dag_id: string }>('GET', '/dags/waits')).dag_id === 'waits');
    await lite.api('PATCH', '/dags/waits', { is_paused: false });
    const begun = performance.now();
    const { dag_run_id: runId } = await lite.api<{ dag_run_id: string }>('POST', '/dags/waits/dagRuns', {});
    const path = `/dags/waits/dagRuns/${encodeURIComponent(runId)}`;
    say(`${times} tasks defer`);
    await until(async () => (await countDeferred(lite, path)) === times);
    print({
      bench: 'triggers',
      figure: 'all_deferred',
      value: rounded((performance.now() - begun) / 1_000),
      unit: 's',
      times,
    });

    say(`one event every ${BETWEEN_EVENTS_MS} ms`);
    await sleep(3_000); // lets memory of the start be released
    const pid = Number(readFileSync(`${go}.pid`, 'utf8'));
    const memory = rounded(usageOf(pid)?.rssMebibytes ?? Number.NaN);
    print({ bench: 'triggers', figure: 'memory', value: memory, unit: 'MiB', times });
    writeFileSync(go, String(Date.now() / 1_000 + 3));
    await until(async () => (await lite.api<{ state: string }>('GET', path)).state === 'success');
    const values = await valuesOf(lite, path, times);
    const [singly, burst] = [values.slice(0, MEASURED), values.slice(LAST_IN_TURN)];
    const shareOf = (some: readonly Value[], share: number): number => {
      const ms = some.map((value) => value.ms).toSorted((a, b) => a - b);
      return rounded(ms[Math.min(ms.length - 1, Math.floor(share * ms.length))] ?? Number.NaN);
    };
    const at = (share: number): number => shareOf(singly, share);
    const pids = [...new Set(values.map(({ pid }) => pid))];
    print({ bench: 'triggers', figure: 'wake_up_p50', value: at(0.5), unit: 'ms', times });
    print({ bench: 'triggers', figure: 'wake_up_p99', value: at(0.99), unit: 'ms', times });
    if (burst.length > 0) {
      const events = burst.length;
      print({ bench: 'triggers', figure: 'burst_p50', value: shareOf(burst, 0.5), unit: 'ms', times, events });
      print({ bench: 'triggers', figure: 'burst_last', value: shareOf(burst, 1), unit: 'ms', times, events });
    }
    print({ bench: 'triggers', figure: 'processes', value: pids.length, unit: 'processes', times });
  } finally {
    await lite.stop();
  }
}

async function until(look: () => Promise<boolean>): Promise<void> {
  while (!(await look().catch(() => false))) await sleep(500);
}

const countDeferred = async (lite: LiteInstance, path: string): Promise<number> =>
  (await lite.api<{ total_entries: number }>('GET', `${path}/taskInstances?state=deferred&limit=1`)).total_entries;

async function valuesOf(lite: LiteInstance, path: string, times: number): Promise<Value[]> {
  const values: Value[] = [];
  for (let from = 0; from < times; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, times - from) }, (_, index) => from + index);
    values.push(
      ...(await Promise.all(
        page.map(async (index) => {
          const entry = `${path}/taskInstances/waits/xcomEntries/return_value?map_index=${index}&stringify=false`;
          return (await lite.api<{ value: Value }>('GET', entry)).value;
        }),
      )),
    );
  }
  return values;
}
