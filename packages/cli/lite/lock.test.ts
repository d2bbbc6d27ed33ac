import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock, holderOf } from './lock.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  file = join(directory, 'lite.lock');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A lock left by a process that is gone: its pid is free again. */
async function leaveStaleLock(): Promise<void> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  writeFileSync(file, JSON.stringify({ pid: child.pid, started: '1' }));
}

describe('the lock of a data directory', () => {
  it('refuses a second holder, naming the first and where to find it', async () => {
    const lock = await acquireLock(file);
    lock.announce('http://127.0.0.1:8088');
    await expect(acquireLock(file)).rejects.toThrow(
      `already running on this data directory: process ${process.pid} at http://127.0.0.1:8088`,
    );
    lock.release();
    expect(holderOf(file)).toBeUndefined();
    (await acquireLock(file)).release();
  });

  it('of a process that was killed is taken over', async () => {
    await leaveStaleLock();
    expect(holderOf(file)).toBeUndefined();
    await acquireLock(file);
    expect(holderOf(file)?.pid).toBe(process.pid);
  });

  it('of a process that is dead and only not yet collected by its parent is taken over', async () => {
    // The shell's child ends when another program has taken the shell's place, which never asks how.
    const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    const stat = (): string[] => {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return text.slice(text.lastIndexOf(')') + 2).split(' ');
    };
    await expect.poll(() => stat()[0], { timeout: 30_000 }).toBe('Z');
    writeFileSync(file, JSON.stringify({ pid, started: stat()[19] }));
    (await acquireLock(file)).release();
    parent.kill('SIGKILL');
  });

  it('is not believed when its pid has gone to another process, or to ourselves after a restart in a container', async () => {
    for (const pid of [1, process.pid]) {
      writeFileSync(file, JSON.stringify({ pid, started: 'another time' }));
      (await acquireLock(file)).release();
    }
  });

  it('that cannot be read is taken over', async () => {
    writeFileSync(file, 'not JSON');
    (await acquireLock(file)).release();
    expect(existsSync(file)).toBe(false);
  });

  it('goes to exactly one of several that find it stale at the same moment', async () => {
    await leaveStaleLock();
    const program = `
      import { acquireLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))};
      process.stdin.once('data', async () => {
        try { await acquireLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 1000); }
        catch { console.log('refused'); process.exit(0); }
      });
      console.log('ready');`;
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module-typescript', '-e', program]),
    );
    const next = children.map((child) => {
      const lines = child.stdout.setEncoding('utf8');
      return async (): Promise<string> => String((await once(lines, 'data'))[0]).trim();
    });
    await Promise.all(next.map((line) => line()));
    const answers = next.map((line) => line());
    for (const child of children) child.stdin.write('go\n');
    expect((await Promise.all(answers)).sort()).toEqual(['held', 'refused', 'refused', 'refused']);
    for (const child of children) child.kill('SIGKILL');
    expect(readdirSync(directory)).toEqual(['lite.lock']);
  });
});
