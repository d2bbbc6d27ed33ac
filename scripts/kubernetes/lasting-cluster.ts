/** A cluster that stays up between commands: one for each checkout. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '@svc/testing/paths.ts';
import { enterNamespaces } from './namespaces.ts';
import { report } from './report.ts';

const NAME = `svc-cluster-${createHash('sha256').update(ROOT).digest('hex').slice(0, 8)}`;
/** Not where TMPDIR says: whoever looks for the cluster may have another. */
const PLACE = '/tmp';
export const LASTING_STATE = join(PLACE, NAME);
/** In the state folder, once the cluster is up. */
const ENVIRONMENT = 'environment.json';
const KEEPER_PID = join(PLACE, `${NAME}.pid`);
const LOG = join(ROOT, 'test-output', 'kubernetes', 'up.log');

/** Lets commands of later find the cluster. */
export const announceCluster = (state: string, env: Readonly<Record<string, string>>): void =>
  writeFileSync(join(state, ENVIRONMENT), JSON.stringify(env));

/** How to run something in the cluster that is up; undefined when there is none. */
export function findCluster(): { enter: readonly string[]; env: Record<string, string> } | undefined {
  const environment = join(LASTING_STATE, ENVIRONMENT);
  if (!existsSync(environment) || !isAlive(keeper())) return undefined;
  const enter = enterNamespaces(LASTING_STATE);
  if (!enter) return undefined; // it is being taken down
  return {
    enter,
    env: JSON.parse(readFileSync(environment, 'utf8')) as Record<string, string>,
  };
}

/** `keep` is the command line that runs a cluster in LASTING_STATE until it is told to end. */
export async function upCluster(keep: readonly [string, ...string[]]): Promise<number> {
  while (!findCluster() && isAlive(keeper())) await sleep(200); // somebody else is bringing it up, or taking it down
  if (findCluster()) report('is up already');
  else {
    mkdirSync(join(LOG, '..'), { recursive: true });
    rmSync(LASTING_STATE, { recursive: true, force: true });
    const log = openSync(LOG, 'w');
    const child = spawn(keep[0], keep.slice(1), { detached: true, stdio: ['ignore', log, log] });
    writeFileSync(KEEPER_PID, String(child.pid));
    child.unref();
    await untilUp(child, () => findCluster() !== undefined);
    report('is up');
  }
  console.log('npm run cluster -- bash   # a shell with kubectl and helm in it\nnpm run cluster -- down');
  return 0;
}

/** Rejects when its keeper ends first, by itself or by a signal. */
export async function untilUp(
  keeping: Pick<ChildProcess, 'exitCode' | 'signalCode'>,
  isUp: () => boolean,
  log: string = LOG,
): Promise<void> {
  while (!isUp()) {
    const end = keeping.signalCode ?? keeping.exitCode;
    if (end !== null) {
      throw new Error(`the cluster did not come up, its keeper ended with ${end}:\n${readFileSync(log, 'utf8')}`);
    }
    await sleep(200);
  }
}

export async function downCluster(): Promise<number> {
  const pid = keeper();
  if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  while (isAlive(pid)) await sleep(100);
  rmSync(KEEPER_PID, { force: true });
  report('is down');
  return 0;
}

const keeper = (): number => (existsSync(KEEPER_PID) ? Number(readFileSync(KEEPER_PID, 'utf8')) : 0);

function isAlive(pid: number): boolean {
  return pid > 0 && existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('cluster.ts');
}
