/** Handles a Postgres that already runs on a data directory on which a cluster should start. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type RunningProcess = { parent: number; command: string };

const ownerFile = (dataDir: string): string => `${dataDir}.owner`;

/** Records which process started the cluster on this directory. */
export const claimDirectory = (dataDir: string): Promise<void> => writeFile(ownerFile(dataDir), `${process.pid}\n`);

/**
 * Stops an orphan. If a parent is killed with SIGKILL, its Postgres continues to run on the data directory, and may be
 * stopped. If Postgres is still the child of its starter, it is in use. Stopping it would take the database from
 * another svc.
 */
export async function stopLeftover(dataDir: string, timeoutMs: number): Promise<void> {
  const pidFile = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(pidFile, 10);
  const postgres = await postgresOn(dataDir, pid);
  if (!postgres) return;
  const startedBy = Number.parseInt(await readFile(ownerFile(dataDir), 'utf8').catch(() => ''), 10);
  if (postgres.parent === startedBy) {
    throw new Error(
      `${dataDir} is in use by process ${postgres.parent}: stop that one first, or use another directory`,
    );
  }
  process.kill(pid, 'SIGINT');
  for (let waited = 0; waited < timeoutMs && (await postgresOn(dataDir, pid)); waited += 20) await sleep(20);
}

/**
 * The data directory must match as well. After a reboot, the number in a stale file may belong to any process, such as
 * the machine's own Postgres.
 */
async function postgresOn(dataDir: string, pid: number): Promise<RunningProcess | undefined> {
  const found = await findProcess(pid);
  return found?.command.includes('postgres') && found.command.includes(`-D ${dataDir} `) ? found : undefined;
}

async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  if (!(pid > 0)) return undefined;
  try {
    return platform() === 'linux' ? await fromProc(pid) : fromPs(pid);
  } catch {
    return undefined; // the process does not exist
  }
}

/** Reads /proc instead of calling `ps`, which small container images lack. */
async function fromProc(pid: number): Promise<RunningProcess | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  if (/^State:\s*Z/m.test(status)) return undefined; // a zombie
  return { parent: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]), command };
}

function fromPs(pid: number): RunningProcess | undefined {
  const line = execFileSync('ps', ['-ww', '-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  const [, parent, command] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
  return parent === undefined || command === undefined ? undefined : { parent: Number(parent), command: `${command} ` };
}
