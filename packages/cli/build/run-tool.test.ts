import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { ToolFailure, runTool } from './run-tool.ts';
import type { ToolRun } from './run-tool.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-run-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const env = { PATH: process.env['PATH'] ?? '' };
const sh = (script: string, more: Partial<ToolRun> = {}): Promise<string> =>
  runTool({ program: 'sh', arguments: ['-c', script, 'sh'], env, ...more });

async function failureOf(work: Promise<unknown>): Promise<ToolFailure> {
  const error = await work.catch((reason: unknown) => reason);
  if (!(error instanceof ToolFailure)) throw new Error(`not a ToolFailure: ${String(error)}`);
  return error;
}

describe('arguments', () => {
  it('arrive as they are: no shell reads them', async () => {
    const words = ['$HOME', '`id`', '; rm -rf x', 'a b', "'", '"', '\n', '*', '-n'];
    const output = await runTool({ program: 'printf', arguments: ['[%s]', ...words], env });
    expect(output).toBe(words.map((word) => `[${word}]`).join(''));
  });
});

describe('output', () => {
  it('comes line by line from both streams; a carriage return ends a line too', async () => {
    const lines: string[] = [];
    await sh(`printf 'one\\ntwo 10%%\\rtwo 20%%\\r\\n\\n'; printf 'err' >&2; printf 'last'`, {
      onLine: (line) => lines.push(line),
    });
    expect(lines.sort()).toEqual(['err', 'last', 'one', 'two 10%', 'two 20%']);
  });

  it('without an end does not fill the memory', async () => {
    const lines: string[] = [];
    const output = await sh(`head -c 3000000 /dev/zero | tr '\\0' x`, { onLine: (line) => lines.push(line) });
    expect(lines.map((line) => line.length)).toEqual([8_192]);
    expect(output).toHaveLength(65_536);
  });
});

describe('input', () => {
  it('is what was given, and otherwise empty: a program that asks a question cannot hang', async () => {
    expect(await sh('cat', { input: 'secret\n' })).toBe('secret\n');
    expect(await sh('cat')).toBe('');
  });

  it('that nobody reads is no failure', async () => {
    expect(await sh('exec true', { input: 'x'.repeat(1_000_000) })).toBe('');
  });
});

describe('a failure', () => {
  it('says how the program ended and quotes its last lines', async () => {
    const failure = await failureOf(sh('seq 100; echo broken >&2; exit 3'));
    expect(failure.message).toBe('sh -c ended with exit code 3');
    expect(failure.lastLines).toHaveLength(30);
    expect(failure.lastLines).toContain('broken');
  });

  it('of a program that is not there says so', async () => {
    const failure = await failureOf(runTool({ program: 'svc-no-such-program', arguments: [], env }));
    expect(failure).toMatchObject({ isMissing: true, message: 'svc-no-such-program is not installed' });
  });

  it('by a signal names the signal', async () => {
    expect((await failureOf(sh('kill -9 $$'))).message).toBe('sh -c was ended by SIGKILL');
  });

  it('to answer in time is one of its own', async () => {
    expect((await failureOf(sh('echo waiting; sleep 600', { timeoutMs: 200 }))).message).toBe(
      'sh did not answer within 200 ms',
    );
  });
});

/** A program whose child would outlive it: both leave their process ids in a file. */
const family = (): string => `sh -c 'echo $$ >> ${directory}/pids; sleep 600' & echo $$ >> ${directory}/pids; wait`;

async function familyIds(): Promise<number[]> {
  const read = (): number[] => {
    const file = join(directory, 'pids');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  };
  return eventually(() => read().length >= 2 && read());
}

async function untilGone(pids: readonly number[]): Promise<void> {
  const isThere = (pid: number): boolean => {
    // A zombie nobody has waited for is as good as gone: it runs nothing.
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') X';
    return !/\) [XZ]/.test(stat);
  };
  await eventually(() => !pids.some(isThere));
}

describe('stopping', () => {
  it('ends the program and everything it has started, and rejects with the reason', async () => {
    const controller = new AbortController();
    const run = sh(family(), { signal: controller.signal }).catch((reason: unknown) => reason);
    const pids = await familyIds();
    controller.abort(new Error('enough'));
    expect(await run).toMatchObject({ message: 'enough' });
    await untilGone(pids);
  });

  it('before the start starts nothing', async () => {
    await expect(sh(`touch ${directory}/started`, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    );
    expect(existsSync(join(directory, 'started'))).toBe(false);
  });

  it('also happens when this process is told to end: the group does not see the terminal', async () => {
    const script = `
      import { runTool } from ${JSON.stringify(join(import.meta.dirname, 'run-tool.ts'))};
      await runTool({ program: 'sh', arguments: ['-c', ${JSON.stringify(family())}], env: process.env });`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    const pids = await familyIds();
    parent.kill('SIGINT');
    expect(await once(parent, 'exit')).toEqual([null, 'SIGINT']);
    await untilGone(pids);
  });
});
