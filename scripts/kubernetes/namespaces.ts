/**
 * Namespaces of the cluster's own for processes, mounts and network: whatever happens in them, nothing of it is left on
 * the machine when their first process ends. What does not belong to a namespace (control groups, the state folder) is
 * removed by clean-up.sh, which also outlives us when we are killed.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
const UNSHARE_PID = 'unshare.pid';
/** All pods together count as so many processes outside of control groups. By default they count as one, and starve on a busy machine. */
const PODS_WEIGHT = 8;

export type Inside = { readonly state: string; readonly cgroup: string };

/** Runs the command in namespaces of its own until it ends, and resolves to its exit code. The folder must be empty. */
export async function runInNamespaces(
  state: string,
  commandFor: (inside: Inside) => readonly string[],
): Promise<number> {
  // Two clusters that share a name must not take each other's pods for orphans.
  const inside = { state, cgroup: `${basename(state)}-${process.pid}` };
  makeCgroup(inside.cgroup);
  const flags = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
  const first = [join(import.meta.dirname, 'prepare-namespace.sh'), state, 'tini', '--'];
  const child = spawn('unshare', [...flags, '--', ...first, ...commandFor(inside)], { stdio: 'inherit' });
  const cleanUp = startCleanUp(inside, child);
  writeFileSync(join(state, UNSHARE_PID), String(child.pid));
  const forwarding = forwardSignals(child);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    forwarding.stop();
    cleanUp.stdin?.end();
    await once(cleanUp, 'exit');
  }
}

function startCleanUp({ state, cgroup }: Inside, child: ChildProcess): ChildProcess {
  return spawn(join(import.meta.dirname, 'clean-up.sh'), [state, cgroup, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true, // Ctrl-C in a terminal reaches the whole process group, and this one has to stay for it
  });
}

const ignore = (): void => {};

/** Ctrl-C reaches everybody in the terminal's process group by itself; being told to end reaches only us. */
function forwardSignals(child: ChildProcess): { stop(): void } {
  const forward = (): void => {
    const first = firstChild(child.pid ?? 0);
    if (first !== undefined) process.kill(first, 'SIGTERM');
  };
  process.on('SIGINT', ignore).on('SIGTERM', forward);
  return { stop: () => void process.off('SIGINT', ignore).off('SIGTERM', forward) };
}

/** Undefined: it has none, or is gone itself. */
function firstChild(pid: number): number | undefined {
  const children = `/proc/${pid}/task/${pid}/children`;
  const [first = ''] = existsSync(children) ? readFileSync(children, 'utf8').split(' ') : [];
  return first === '' ? undefined : Number(first);
}

/** The beginning of a command line for something that is to run in the namespaces with that state; undefined when they end. */
export function enterNamespaces(state: string): readonly string[] | undefined {
  const first = firstChild(Number(readFileSync(join(state, UNSHARE_PID), 'utf8')));
  if (first === undefined) return undefined;
  return ['nsenter', `--target=${first}`, '--net', '--mount', '--pid', `--wd=${process.cwd()}`, '--'];
}

/** The kubelet wants to be given one that exists, in every hierarchy. */
function makeCgroup(name: string): void {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) {
    const controllers = readFileSync(join(CGROUPS, 'cgroup.controllers'), 'utf8').trim().split(' ');
    writeFileSync(join(CGROUPS, 'cgroup.subtree_control'), controllers.map((controller) => `+${controller}`).join(' '));
    mkdirSync(join(CGROUPS, name));
    writeFileSync(join(CGROUPS, name, 'cpu.weight'), String(PODS_WEIGHT * 100));
    return;
  }
  for (const hierarchy of readdirSync(CGROUPS)) {
    const folder = join(CGROUPS, hierarchy, name);
    mkdirSync(folder, { recursive: true });
    // A new group of this hierarchy takes no process before it has processors and memory.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (existsSync(join(folder, file))) writeFileSync(join(folder, file), readFileSync(join(folder, '..', file)));
    }
    const shares = join(folder, 'cpu.shares');
    if (existsSync(shares)) writeFileSync(shares, String(PODS_WEIGHT * 1_024));
  }
}
