/**
 * Breaks parts of a cluster of our own. A part that was killed is started again at once, as a service manager would do;
 * one that is held stays down until it is let go (scripts/kubernetes/supervisor.ts).
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { CLUSTER_STATE } from './cluster.ts';

export type ComponentName =
  | 'containerd'
  | 'coredns'
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-proxy'
  | 'kube-scheduler'
  | 'kubelet'
  | 'registry';

function place(folder: 'pids' | 'held', name: ComponentName): string {
  if (CLUSTER_STATE === undefined) throw new Error('only parts of a cluster that the tests have started may be broken');
  return join(CLUSTER_STATE, folder, name);
}

/** Of the process; undefined while there is none. */
export function componentPid(name: ComponentName): number | undefined {
  const file = place('pids', name);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

/** Resolves when it runs again, as another process; that it also answers is for the test to wait for. */
export async function killComponent(name: ComponentName, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const before = await eventually(() => componentPid(name) ?? false);
  process.kill(before, signal);
  await eventually(() => ![undefined, before].includes(componentPid(name)));
}

/** Resolves when it is gone. Dispose to have it started again. */
export async function holdComponent(name: ComponentName, signal: NodeJS.Signals = 'SIGKILL'): Promise<Disposable> {
  writeFileSync(place('held', name), '');
  const pid = componentPid(name);
  if (pid !== undefined) process.kill(pid, signal);
  await eventually(() => componentPid(name) === undefined);
  return { [Symbol.dispose]: () => rmSync(place('held', name), { force: true }) };
}
