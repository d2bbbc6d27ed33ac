/** What befalls a cluster with its control planes while tasks run: a plan made from a seed, and how each of it is done. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';
import { findVictims, killProcess } from '../chaos/runs-processes.ts';
import { eventually } from '../eventually.ts';
import { core } from './cluster.ts';
import { holdComponent } from './components.ts';
import type { ComponentName } from './components.ts';
import type { ControlPlanes } from './control-planes.ts';
import type { ExecutorAccount } from './executor-account.ts';

/** How long each lasts at most; 0: a moment. */
const FAULTS = {
  'kill a control plane': 8_000,
  'kill the API server': 6_000,
  'kill etcd': 4_000,
  'kill the kubelet': 10_000,
  'kill containerd': 3_000,
  'kill the scheduler of the cluster': 5_000,
  'kill a shim': 0,
  'kill an agent': 0,
  'kill a task': 0,
  'delete a pod': 0,
  'delete a pod by force': 0,
  'drain the node': 3_000,
  'cut agents off': 20_000,
  'refuse token reviews': 8_000,
} as const;
export type Fault = keyof typeof FAULTS;
const NAMES = Object.keys(FAULTS) as Fault[];

/** Pods die more often than machines: otherwise the cluster is down most of the time, and little is there to be disturbed. */
const WEIGHTED: readonly Fault[] = [...NAMES, 'kill a shim', 'kill an agent', 'kill a task', 'delete a pod', 'delete a pod by force']; // prettier-ignore
const COMPONENTS: Partial<Record<Fault, ComponentName>> = {
  'kill the API server': 'kube-apiserver',
  'kill etcd': 'etcd',
  'kill the kubelet': 'kubelet',
  'kill containerd': 'containerd',
  'kill the scheduler of the cluster': 'kube-scheduler',
};

export type PlannedFault = { pauseMs: number; fault: Fault; lastsMs: number; choice: number };

/** Each kind once, in an order of its own, and then whatever comes, without end; they depend on the seed alone. */
export function* planFaults(random: Random): Generator<PlannedFault> {
  const first = [...NAMES];
  for (;;) {
    const fault = first.length > 0 ? first.splice(random.below(first.length), 1)[0] : random.pick(WEIGHTED);
    if (fault === undefined) throw new Error('no fault');
    const longest = FAULTS[fault];
    const lastsMs = longest === 0 ? 0 : Math.round(longest / 4) + random.below((longest * 3) / 4);
    yield { pauseMs: 1_000 + random.below(3_000), fault, lastsMs, choice: random.below(1_000_000) };
  }
}

/**
 * Every other kind of fault once, of those that the seed puts first. The two parts together have each kind, so that two short
 * scenes cover what a long one repeats.
 */
export function* planPart(random: Random, part: 0 | 1): Generator<PlannedFault> {
  let number = 0;
  for (const planned of planFaults(random)) {
    if (number === NAMES.length) return;
    if (number % 2 === part) yield planned;
    number += 1;
  }
}

export const describeFault = ({ pauseMs, fault, lastsMs }: PlannedFault): string =>
  `+${pauseMs} ms ${fault}${lastsMs > 0 ? ` for ${lastsMs} ms` : ''}`;

export type Scene = { planes: ControlPlanes; account: ExecutorAccount; namespace: string; node: string };

/** False: there was nobody to befall. */
export async function inflict(scene: Scene, { fault, lastsMs, choice }: PlannedFault): Promise<boolean> {
  const { planes, account, namespace } = scene;
  const component = COMPONENTS[fault];
  if (component !== undefined) {
    using _held = await holdComponent(component);
    await sleep(lastsMs);
    return true;
  }
  switch (fault) {
    case 'kill a control plane': {
      const victim = pick(planes.all, choice);
      await victim?.stop('SIGKILL');
      await sleep(lastsMs);
      await victim?.startAgain().catch(() => victim.startAgain()); // a busy machine may need longer than it is waited for
      return true;
    }
    case 'kill a shim':
      return killOne(async () => shims(), choice);
    case 'kill an agent':
      return killOne(async () => (await findVictims([planes.service.address])).agents, choice);
    case 'kill a task':
      // Python: one process for the version and one for the attempt.
      return killOne(async () => {
        const { forkServers, tasks } = await findVictims([planes.service.address]);
        return tasks.length > 0 ? tasks : forkServers;
      }, choice);
    case 'delete a pod':
    case 'delete a pod by force': {
      const names = await eventually(async () => {
        const found = await podNames(namespace);
        return found.length > 0 && found;
      });
      const name = pick(names, choice) ?? '';
      const force = fault === 'delete a pod' ? {} : { gracePeriodSeconds: 0 };
      await insist(() => core.deleteNamespacedPod({ namespace, name, ...force }));
      return true;
    }
    case 'drain the node':
      return drain(scene, lastsMs);
    case 'cut agents off':
      await planes.service.cutFor(lastsMs);
      return true;
    case 'refuse token reviews':
      await insist(() => account.setTokenReviews(false));
      await sleep(lastsMs);
      await insist(() => account.setTokenReviews(true));
      return true;
    default:
      throw new Error(`nobody knows how to do this: ${fault}`);
  }
}

/** As `kubectl drain` does it: nothing new comes, and what is there is evicted. */
async function drain({ namespace, node }: Scene, lastsMs: number): Promise<boolean> {
  const setUnschedulable = (unschedulable: boolean): Promise<unknown> =>
    insist(() =>
      core.patchNode({ name: node, body: [{ op: 'add', path: '/spec/unschedulable', value: unschedulable }] }),
    );
  await setUnschedulable(true);
  for (const name of await podNames(namespace)) {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    await insist(() => core.createNamespacedPodEviction({ namespace, name, body }));
  }
  await sleep(lastsMs);
  await setUnschedulable(false);
  return true;
}

export const podNames = (namespace: string): Promise<string[]> =>
  insist(async () => (await core.listNamespacedPod({ namespace })).items.map(({ metadata }) => metadata?.name ?? ''));

const GONE = new Set([404, 409]);

/** The API server may be on its way back from the fault before. What is done already is done. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  return eventually(
    () =>
      ask().catch((error: { code?: number }) => (GONE.has(error.code ?? 0) ? (undefined as T) : Promise.reject(error))),
    { everyMs: 250, withinMs: 120_000 },
  ) as Promise<T>;
}

const pick = <T>(items: readonly T[], choice: number): T | undefined => items[choice % Math.max(items.length, 1)];

const LOOKS = 50;

/** There may be nobody at this very moment. */
async function killOne(find: () => Promise<readonly number[]>, choice: number): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    const pid = pick(await find(), choice);
    if (pid !== undefined && killProcess(pid)) return true;
    await sleep(200);
  }
  return false;
}

/** Each watches the containers of one pod for containerd. */
function shims(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && commandOf(pid).includes('containerd-shim'));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}
