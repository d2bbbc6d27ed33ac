import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { core } from './cluster.ts';
import { startControlPlanes } from './control-planes.ts';
import type { ControlPlanes } from './control-planes.ts';
import { startLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { createTestNamespace } from './namespace.ts';
import type { TestNamespace } from './namespace.ts';

/** `executor.unreachable_after`. Agents end their tasks after four fifths of it, and a busy machine starts control planes slowly. */
const LEASE_SECONDS = 120;
const PATIENT = { withinMs: 150_000, everyMs: 300 };
const WIDTH = 6;

const dagsWith = (ledger: Ledger): string => `
import time
from airflow.sdk import DAG, task
${ledger.python}

with DAG("wide", schedule=None):
    @task
    def each(number):
        tell("start")
        tell("end")
    each.expand(number=list(range(${WIDTH})))

def until(name, gate, fails=False):
    with DAG(name, schedule=None) as dag:
        @task
        def only():
            tell("start")
            print("begun", flush=True)
            wait_for(gate)
            for _ in range(3):
                print("goes on", flush=True)
            tell("end")
            if fails:
                raise ValueError("as it must be")
            return "done"
        only()
    return dag

adopted = until("adopted", "adopted")
ends_meanwhile = until("ends_meanwhile", "away")
fails_meanwhile = until("fails_meanwhile", "away", fails=True)
goes_on = until("goes_on", "back")
`;

let namespace: TestNamespace;
let ledger: Ledger;
let planes: ControlPlanes;
beforeAll(async () => {
  namespace = await createTestNamespace('schedulers');
  ledger = await startLedger();
  const settings = { 'executor.unreachable_after': `${LEASE_SECONDS}s`, 'executor.parallelism': '4' };
  planes = await startControlPlanes({ namespace: namespace.name, count: 2, settings });
  await first().addDag('all', dagsWith(ledger));
});
afterAll(async () => {
  await planes?.close();
  ledger?.close();
  await namespace?.[Symbol.asyncDispose]();
});

function plane(number: number) {
  const found = planes.all[number];
  if (!found) throw new Error('there is no such control plane');
  return found;
}
const first = () => plane(0);
const second = () => plane(1);
const pods = async () => (await core.listNamespacedPod({ namespace: namespace.name })).items;
const ownerOf = async (dagId: string): Promise<string | undefined> => {
  const found = (await pods()).find(({ metadata }) => metadata?.labels?.['svc.dev/dag'] === dagId);
  return found?.metadata?.annotations?.['svc.dev/owner'];
};
const startsOf = (runId: string) => ledger.lines.filter(({ run, what }) => run === runId && what === 'start');
const hasBegun = (runId: string) => eventually(() => startsOf(runId).length > 0, PATIENT);

/** Every pod that ever was, by the attempt it was made for. */
function watchPods(): { seen: Map<string, Set<string>>; stop: () => Promise<void> } {
  const seen = new Map<string, Set<string>>();
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      for (const { metadata } of await pods()) {
        const attempt = metadata?.labels?.['svc.dev/attempt'] ?? '';
        seen.set(attempt, (seen.get(attempt) ?? new Set()).add(metadata?.uid ?? ''));
      }
      await sleep(100);
    }
  })();
  return { seen, stop: () => (over.abort(), looking) };
}

describe('two schedulers on one cluster', () => {
  it('share the work: every attempt has one pod and runs once, and neither removes what is the other’s', async () => {
    const watching = watchPods();
    const runs = await Promise.all([first(), second(), first(), second()].map((each) => each.trigger('wide')));
    for (const runId of runs) expect((await first().ended('wide', runId, 300)).state).toBe('success');
    await watching.stop();
    const started = runs.flatMap(startsOf);
    expect(started).toHaveLength(runs.length * WIDTH);
    expect(new Set(started.map(({ attempt }) => attempt)).size).toBe(runs.length * WIDTH);
    expect([...watching.seen.values()].filter((uids) => uids.size > 1)).toEqual([]);
    const tries = await queryDatabase(planes.databaseUrl, 'select distinct try_number from task_instances');
    expect(tries).toEqual([{ try_number: 1 }]);
    await eventually(async () => expect(await pods()).toEqual([]), PATIENT);
  });

  it('one is killed: the other looks after its pods, and goes on with the rest', { timeout: 300_000 }, async () => {
    const runId = await first().trigger('adopted');
    await hasBegun(runId);
    const owner = await ownerOf('adopted');
    const alive = await queryDatabase<{ process_id: string }>(
      planes.databaseUrl,
      `select process_id from heartbeats where component = 'scheduler' and stopped_at is null`,
    );
    expect(alive.map(({ process_id: id }) => id)).toContain(owner);
    await Promise.all([first().stop('SIGKILL'), second().stop('SIGKILL')]);
    await second().startAgain(); // neither is the one that made the pod
    ledger.open('adopted');
    expect((await second().ended('adopted', runId, 300)).state).toBe('success');
    expect(startsOf(runId)).toHaveLength(1);
    // Nobody but the heir could have removed it.
    await eventually(async () => expect(await pods()).toEqual([]), PATIENT);
    const more = await second().trigger('wide');
    expect((await second().ended('wide', more, 300)).state).toBe('success');
    await first().startAgain();
  });
});

describe('tasks whose control planes are all away for long', () => {
  it('go on, and what they did is recorded after', { timeout: 400_000 }, async () => {
    const ended = await first().trigger('ends_meanwhile');
    const failed = await first().trigger('fails_meanwhile');
    const going = await first().trigger('goes_on');
    await Promise.all([ended, failed, going].map(hasBegun));
    await Promise.all(planes.all.map((each) => each.stop('SIGKILL')));
    ledger.open('away');
    // They have told us, and nobody else so far.
    const ends = () => ledger.lines.filter(({ run, what }) => what === 'end' && [ended, failed].includes(run));
    await eventually(() => expect(ends()).toHaveLength(2), PATIENT);
    await Promise.all(planes.all.map((each) => each.startAgain()));
    ledger.open('back');
    expect((await first().ended('ends_meanwhile', ended, 300)).state).toBe('success');
    expect((await first().ended('fails_meanwhile', failed, 300)).state).toBe('failed');
    expect((await first().ended('goes_on', going, 300)).state).toBe('success');
    for (const [dagId, runId] of [
      ['ends_meanwhile', ended],
      ['goes_on', going],
    ] as const) {
      const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`;
      expect(await first().api('GET', path)).toMatchObject({ state: 'success', try_number: 1 });
      expect(await first().api('GET', `${path}/xcomEntries/return_value?deserialize=true`)).toMatchObject({
        value: 'done',
      });
    }
    const why = await first().api(
      'GET',
      `/dags/fails_meanwhile/dagRuns/${encodeURIComponent(failed)}/taskInstances/only`,
    );
    expect(why).toMatchObject({ failure_reason: expect.stringMatching(/^exception: /), try_number: 1 });
    const log = await first().log('ends_meanwhile', ended, 'only');
    expect(log.match(/goes on/g)).toHaveLength(3);
    for (const runId of [ended, failed, going]) expect(startsOf(runId)).toHaveLength(1);
    await eventually(async () => expect(await pods()).toEqual([]), PATIENT);
  });
});
