import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { SCRIPT_ARGUMENTS } from './node-arguments.ts';

/** A process like a test run: it starts something, tells about it in one line, and waits. */
async function startRun<Told>(script: string) {
  const child = spawn(
    process.execPath,
    [...SCRIPT_ARGUMENTS, '--input-type=module', '-e', `${script}\nsetInterval(() => {}, 1_000);`],
    {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, told: JSON.parse(line) as Told };
}

/** Dead and only waited for is gone: who adopts orphans here is not ours to choose. */
function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false; // ps ends with 1 when there is none
  }
}

const startCluster = (more: string): string => `
  const { startScratchCluster } = await import('./postgres/scratch-cluster.ts');
  const cluster = await startScratchCluster();
  ${more}
  console.log(JSON.stringify({ pid: cluster.pid, dataDir: cluster.dataDir }));`;

it.each([
  { how: 'stopped with SIGINT', signal: 'SIGINT', more: '' },
  { how: 'stopped with SIGTERM and a paused Postgres', signal: 'SIGTERM', more: 'cluster.pause();' },
  { how: 'killed after a restart', signal: 'SIGKILL', more: "await cluster.stop('kill'); await cluster.start();" },
] as const)('a test run that is $how leaves no Postgres and no data directory', async ({ signal, more }) => {
  const { child, told } = await startRun<{ pid: number; dataDir: string }>(startCluster(more));
  expect(isRunning(told.pid)).toBe(true);
  child.kill(signal);
  await eventually(() => {
    expect(existsSync(join(told.dataDir, '..'))).toBe(false);
    expect(isRunning(told.pid)).toBe(false);
  });
});

it('a test run that cleans up itself leaves no process that waits for its end', async () => {
  const { child, told } = await startRun<{ pid: number }>(`
    const { startScratchCluster } = await import('./postgres/scratch-cluster.ts');
    const cluster = await startScratchCluster();
    const { execFileSync } = await import('node:child_process');
    const watchers = () => execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
      .split('\\n').filter((line) => line.includes('postmaster.pid'));
    const [watcher] = watchers();
    await cluster.remove();
    console.log(JSON.stringify({ pid: Number.parseInt(watcher, 10) }));`);
  try {
    expect(told.pid).toBeGreaterThan(0);
    await eventually(() => expect(isRunning(told.pid)).toBe(false));
  } finally {
    child.kill();
  }
});

it('a server that a killed test run had started is stopped', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-orphan-'));
  const { child, told } = await startRun<{ pid: number }>(`
    const { spawn } = await import('node:child_process');
    const { endsWithThisProcess } = await import('./ends-with-this-process.ts');
    const server = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    endsWithThisProcess({ pids: [server.pid], directory: ${JSON.stringify(directory)} });
    console.log(JSON.stringify({ pid: server.pid }));`);
  child.kill('SIGKILL');
  await eventually(() => {
    expect(isRunning(told.pid)).toBe(false);
    expect(existsSync(directory)).toBe(false);
  });
});
