/**
 * Tasks in pods while every part that they depend on is killed: a scene of two control planes on a cluster, runs that are
 * triggered all the while, faults from a seed, and what is known in the end.
 *
 * A scene is short, with a part of the kinds of faults, or long:
 *
 *   SVC_TEST_CHAOS_FAULTS     how many faults a long one has at least; 40 are some four minutes
 *   SVC_TEST_CHAOS_ATTEMPTS   its faults go on until there were so many attempts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../chaos/random.ts';
import type { InstanceEvidence, Transition } from '../chaos/runs-evidence.ts';
import { recordTransitions } from '../chaos/record-transitions.ts';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { SEED } from '../seed.ts';
import type { Evidence } from './chaos-checks.ts';
import { describeFault, inflict, planFaults, planPart, podNames } from './chaos-faults.ts';
import type { PlannedFault, Scene } from './chaos-faults.ts';
import { core } from './cluster.ts';
import { startControlPlanes } from './control-planes.ts';
import type { ControlPlanes } from './control-planes.ts';
import { createExecutorAccount } from './executor-account.ts';
import { startLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { createTestNamespace } from './namespace.ts';

const FAULTS = Number(process.env['SVC_TEST_CHAOS_FAULTS'] ?? 40);
const ATTEMPTS = Number(process.env['SVC_TEST_CHAOS_ATTEMPTS'] ?? 0);
/** Five tasks each. */
const LIVE_RUNS = 6;
/** The longest silence that is waited for, of an attempt whose pod nobody knows the end of. */
const LEASE_SECONDS = 60;

/** For all of it, on a busy machine: a fault takes some seconds, an attempt at most as long as one. */
export const CHAOS_TIMEOUT_MS = 1_200_000 + Math.max(0, FAULTS - 40) * 15_000 + ATTEMPTS * 6_000;

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

export type Chaos = {
  readonly planes: ControlPlanes;
  readonly namespace: string;
  /** Inflicts them all, and waits for the end of what runs. */
  run(): Promise<{ evidence: Evidence; accepted: readonly { dagId: string; runId: string }[] }>;
  close(): Promise<void>;
};

/** `part` of the kinds of faults makes it a short one. */
export async function startChaos(input: {
  name: string;
  part?: 0 | 1;
  settings?: Record<string, string>;
}): Promise<Chaos> {
  const { name, part, settings = {} } = input;
  const namespace = await createTestNamespace(name);
  const account = await createExecutorAccount(namespace.name);
  process.env['KUBECONFIG'] = account.kubeconfig; // for the control planes; ours was read before
  const ledger = await startLedger();
  const planes = await startControlPlanes({
    namespace: namespace.name,
    count: 2,
    settings: {
      'auth.jwt.token_ttl_seconds': String(24 * 3_600), // ours, with which runs are triggered: chaos may last for hours
      'auth.agent_token_transport': 'exchange',
      'executor.parallelism': '8',
      'executor.unreachable_after': `${LEASE_SECONDS}s`,
      'executor.pod_start_timeout': '1m',
      'executor.pod_termination_grace': '5s',
      'scheduler.attempt_lease': '30s',
      ...settings,
    },
  });
  await recordTransitions(planes.databaseUrl);
  await planes.all[0]?.addDag('pods', dagWith(ledger));
  const { items } = await core.listNode();
  const scene: Scene = { planes, account, namespace: namespace.name, node: items[0]?.metadata?.name ?? '' };
  const triggers = triggerRuns(planes);
  return {
    planes,
    namespace: namespace.name,
    async run() {
      const { done, endedAt, seconds } = await inflictAll(scene, triggers, part);
      // What a dead process had claimed waits for its lease twice at worst: once claimed, once more after its return.
      const withinMs = LEASE_SECONDS * 2_000 + 300_000;
      await eventually(async () => (await countLive(planes)) === 0, { everyMs: 500, withinMs }).catch(() => {});
      const evidence = await gatherEvidence(planes, ledger);
      const starts = ledger.lines.filter(({ what }) => what === 'start').length;
      const report = {
        seed: SEED,
        runs: evidence.runs.length,
        attempts: evidence.transitions.filter(({ became }) => became === 'queued').length,
        bodiesBegun: starts,
        bodiesEnded: ledger.lines.length - starts,
        hosts: new Set(ledger.lines.map(({ host }) => host)).size,
        faults: countBy(done),
        reasons: countBy(evidence.tries.map(({ failure_reason: reason }) => reason?.split(':')[0] ?? 'none')),
        secondsOfFaults: seconds,
        secondsUntilAllEnded: Math.round((Date.now() - endedAt) / 1_000),
      };
      console.log(JSON.stringify(report));
      return { evidence, accepted: triggers.accepted };
    },
    async close() {
      await planes.close();
      ledger.close();
      await account[Symbol.asyncDispose]();
      await namespace[Symbol.asyncDispose]();
    },
  };
}

/** Without end where it is a number of attempts that counts. */
async function* planOf(scene: Scene, part: 0 | 1 | undefined): AsyncGenerator<PlannedFault> {
  const random = createRandom(SEED);
  if (part !== undefined) return yield* planPart(random, part);
  let count = 0;
  for (const planned of planFaults(random)) {
    if (count >= FAULTS && (ATTEMPTS === 0 || (await countAttempts(scene.planes)) >= ATTEMPTS)) return;
    count += 1;
    yield planned;
  }
}

async function inflictAll(scene: Scene, triggers: Triggers, part: 0 | 1 | undefined) {
  console.log(`seed ${SEED}, ${part === undefined ? `${FAULTS} faults` : `part ${part} of the kinds of faults`}`);
  const begunAt = Date.now();
  const done: string[] = [];
  const over = new AbortController();
  const triggering = triggers.keepAlive(LIVE_RUNS, over.signal);
  try {
    for await (const planned of planOf(scene, part)) {
      console.log(describeFault(planned));
      await sleep(planned.pauseMs);
      if (await inflict(scene, planned)) done.push(planned.fault);
    }
  } finally {
    over.abort();
    await triggering;
  }
  return { done, endedAt: Date.now(), seconds: Math.round((Date.now() - begunAt) / 1_000) };
}

type Triggers = ReturnType<typeof triggerRuns>;

function triggerRuns(planes: ControlPlanes) {
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

  return {
    accepted,
    async keepAlive(runs: number, over: AbortSignal): Promise<void> {
      while (!over.aborted) {
        for (let wanted = runs - (await countLive(planes)); wanted > 0 && !over.aborted; wanted -= 1) await trigger();
        await sleep(250);
      }
    },
  };
}

async function count({ databaseUrl }: ControlPlanes, what: string): Promise<number> {
  return (await queryDatabase<{ count: number }>(databaseUrl, `select count(*)::int as count from ${what}`))[0]?.count ?? 0; // prettier-ignore
}
const countLive = (planes: ControlPlanes): Promise<number> =>
  count(planes, `dag_runs where state in ('queued', 'running')`);
const countAttempts = (planes: ControlPlanes): Promise<number> =>
  count(planes, `chaos_transitions where became = 'queued'`);

async function gatherEvidence({ databaseUrl }: ControlPlanes, ledger: Ledger): Promise<Evidence> {
  const ask = <Row>(text: string): Promise<Row[]> => queryDatabase<Row>(databaseUrl, text);
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

/** Nothing of what ran is left in the namespace; of what is, everything is told that is known. */
export async function podsAreGone({ namespace, planes }: Pick<Chaos, 'namespace' | 'planes'>): Promise<void> {
  const areGone = async (): Promise<boolean> => (await podNames(namespace)).length === 0;
  try {
    await eventually(areGone, { everyMs: 500, withinMs: 180_000 });
  } catch (error) {
    for (const name of await podNames(namespace)) console.log(await aboutPod(name, namespace, planes));
    throw error;
  }
}

async function aboutPod(name: string, namespace: string, planes: ControlPlanes): Promise<string> {
  const { metadata, status } = await core.readNamespacedPod({ namespace, name });
  const log = await core.readNamespacedPodLog({ namespace, name, tailLines: 20 }).catch(String);
  const rows = await queryDatabase(planes.databaseUrl, `select * from workers where name = '${name}'`);
  const id = name.replace('svc-worker-', '');
  const lines = planes.all.flatMap((plane) =>
    plane
      .logLines()
      .filter((line) => line.includes(id))
      .slice(-20),
  );
  return ['left:', JSON.stringify({ metadata, status, rows }), log, ...lines].join('\n');
}

function countBy(items: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[item] = (counts[item] ?? 0) + 1;
  return counts;
}
