/**
 * Tasks in pods while every part that they depend on is killed. Repeat what went wrong with the seed that was printed:
 *
 *   SVC_TEST_SEED=… SVC_TEST_CHAOS_FAULTS=… npm run test:kubernetes -- packages/testing/kubernetes/chaos.kubernetes.test.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../chaos/random.ts';
import type { InstanceEvidence, Transition } from '../chaos/runs-evidence.ts';
import { recordTransitions } from '../chaos/record-transitions.ts';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { SEED } from '../seed.ts';
import { checkPods } from './chaos-checks.ts';
import type { Evidence } from './chaos-checks.ts';
import { describePlan, inflict, planFaults, podNames } from './chaos-faults.ts';
import type { Scene } from './chaos-faults.ts';
import { CLUSTER_STATE, core } from './cluster.ts';
import { startControlPlanes } from './control-planes.ts';
import type { ControlPlanes } from './control-planes.ts';
import { createExecutorAccount } from './executor-account.ts';
import type { ExecutorAccount } from './executor-account.ts';
import { startLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { createTestNamespace } from './namespace.ts';
import type { TestNamespace } from './namespace.ts';

/** Some four minutes of them. */
const FAULTS = Number(process.env['SVC_TEST_CHAOS_FAULTS'] ?? 40);
/** Five tasks each. */
const LIVE_RUNS = 6;
/** The longest silence that is waited for, of an attempt whose pod nobody knows the end of. */
const LEASE_SECONDS = 60;

/** Kills are no fault of the task: there are enough tries for all of them. */
const dagWith = (ledger: Ledger): string => `
import time
from airflow.sdk import DAG, task
${ledger.python}

def part(name, seconds):
    @task(task_id=name)
    def body(before=None):
        tell("start")
        time.sleep(seconds)
        tell("end")
        return name
    return body

with DAG("pods", schedule=None, max_active_runs=1000, default_args={"retries": 60, "retry_delay": 0.1}):
    @task
    def last(values):
        tell("start")
        if sorted(values) != ["long", "middling", "quick"]:
            raise ValueError(f"got {values}")
        tell("end")

    begun = part("first", 0)()
    last([part("quick", 0.2)(begun), part("middling", 2)(begun), part("long", 6)(begun)])
`;

let namespace: TestNamespace;
let account: ExecutorAccount;
let ledger: Ledger;
let planes: ControlPlanes;
beforeAll(async () => {
  namespace = await createTestNamespace('chaos');
  account = await createExecutorAccount(namespace.name);
  process.env['KUBECONFIG'] = account.kubeconfig; // for the control planes; ours was read before
  ledger = await startLedger();
  planes = await startControlPlanes({
    namespace: namespace.name,
    count: 2,
    settings: {
      'auth.agent_token_transport': 'exchange',
      'executor.parallelism': '8',
      'executor.unreachable_after': `${LEASE_SECONDS}s`,
      'executor.pod_start_timeout': '1m',
      'executor.pod_termination_grace': '5s',
      'scheduler.attempt_lease': '30s',
    },
  });
  await recordTransitions(planes.databaseUrl);
  await planes.all[0]?.addDag('pods', dagWith(ledger));
});
afterAll(async () => {
  await planes?.close();
  ledger?.close();
  await account?.[Symbol.asyncDispose]();
  await namespace?.[Symbol.asyncDispose]();
});

const accepted: { dagId: string; runId: string }[] = [];

/** Asked for until somebody says that it exists. */
async function trigger(): Promise<void> {
  const runId = `chaos-${accepted.length + 1}`;
  await eventually(
    async () => {
      const plane = planes.all[Math.floor(Date.now() / 1_000) % planes.all.length];
      const answer = plane?.trigger('pods', { dag_run_id: runId, logical_date: null }) ?? Promise.reject();
      await answer.catch((error: Error) => {
        if (!error.message.includes(': 409 ')) throw error;
      });
    },
    { everyMs: 200, withinMs: 120_000 },
  );
  accepted.push({ dagId: 'pods', runId });
}

const countLive = async (): Promise<number> => {
  const text = `select count(*)::int as live from dag_runs where state in ('queued', 'running')`;
  return (await queryDatabase<{ live: number }>(planes.databaseUrl, text))[0]?.live ?? 0;
};

async function gatherEvidence(): Promise<Evidence> {
  const ask = <Row>(text: string): Promise<Row[]> => queryDatabase<Row>(planes.databaseUrl, text);
  return {
    runs: await ask('select dag_id, run_id, state from dag_runs order by id'),
    instances: await ask<InstanceEvidence>(
      `select t.*, r.run_id from task_instances t join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run`,
    ),
    tries: await ask(`select failure_reason, failure_detail from task_instance_history where state <> 'success'`),
    transitions: await ask<Transition>('select * from chaos_transitions order by at'),
    lines: ledger.lines,
  };
}

function countBy(items: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[item] = (counts[item] ?? 0) + 1;
  return counts;
}

describe.runIf(CLUSTER_STATE)('a cluster whose every part is killed again and again', () => {
  it('loses no attempt, runs none twice, and everything ends', { timeout: 1_200_000 }, async () => {
    const { items } = await core.listNode();
    const scene: Scene = { planes, account, namespace: namespace.name, node: items[0]?.metadata?.name ?? '' };
    const plan = planFaults(createRandom(SEED), FAULTS);
    console.log(`seed ${SEED}, ${FAULTS} faults:\n${describePlan(plan)}`);
    const begunAt = Date.now();
    const done: string[] = [];
    const over = new AbortController();
    const triggering = (async () => {
      while (!over.signal.aborted) {
        for (let wanted = LIVE_RUNS - (await countLive()); wanted > 0 && !over.signal.aborted; wanted -= 1)
          await trigger();
        await sleep(250);
      }
    })();
    try {
      for (const planned of plan) {
        await sleep(planned.pauseMs);
        if (await inflict(scene, planned)) done.push(planned.fault);
      }
    } finally {
      over.abort();
      await triggering;
    }
    const endedAt = Date.now();
    // What a dead process had claimed waits for its lease twice at worst: once claimed, once more after its return.
    await eventually(async () => (await countLive()) === 0, { everyMs: 500, withinMs: LEASE_SECONDS * 2_000 + 300_000 }).catch(() => {}); // prettier-ignore
    const evidence = await gatherEvidence();
    const starts = ledger.lines.filter(({ what }) => what === 'start').length;
    const report = {
      seed: SEED,
      runs: evidence.runs.length,
      attempts: evidence.transitions.filter(({ became }) => became === 'queued').length,
      bodiesBegun: starts,
      bodiesEnded: ledger.lines.length - starts,
      faults: countBy(done),
      reasons: countBy(evidence.tries.map(({ failure_reason: reason }) => reason?.split(':')[0] ?? 'none')),
      secondsOfFaults: Math.round((endedAt - begunAt) / 1_000),
      secondsUntilAllEnded: Math.round((Date.now() - endedAt) / 1_000),
    };
    console.log(JSON.stringify(report));
    expect(checkPods(evidence, accepted)).toEqual([]);
    expect(planes.all.map((plane) => plane.exited())).toEqual([null, null]);
    await eventually(async () => expect(await podNames(namespace.name)).toEqual([]), { everyMs: 500, withinMs: 120_000 }); // prettier-ignore
  });
});
