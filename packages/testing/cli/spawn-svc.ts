/** `bin/svc`, or another program, as a process of its own: for signals, exit codes and what outlives it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endsWithThisProcess } from '../ends-with-this-process.ts';

/** A start on a busy machine takes a minute. What takes longer than this hangs, and its output shows where. */
const PATIENCE_MS = 240_000;
const SVC = fileURLToPath(new URL('../../../bin/svc', import.meta.url));

export type SpawnedSvc = {
  readonly pid: number;
  /** Both streams, as a person would see them. */
  output(): string;
  /** Resolves when the output has this text; rejects when the process ends without it, or says nothing for minutes. */
  until(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Calls `signal` and waits for the end. Rejects with the output when the process does not end for minutes. */
  end(signal: () => void): Promise<number | NodeJS.Signals | null>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
};

export const spawnSvc = (argv: readonly string[], env: Record<string, string> = {}): SpawnedSvc => {
  const { PATH = '', HOME = '' } = process.env;
  return spawnProgram(SVC, argv, { env: { PATH, HOME, ...env } });
};

/** `detached`: in a process group of its own, as a shell starts programs. */
export function spawnProgram(
  program: string,
  argv: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; detached?: boolean },
): SpawnedSvc {
  const child = spawn(program, [...argv], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  let output = '';
  const changed = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const wake of changed) wake();
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null);
  return {
    pid: child.pid ?? 0,
    output: () => output,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!output.includes(text)) return;
          changed.delete(look);
          resolve();
        };
        changed.add(look);
        const refuse = (what: string): void =>
          reject(new Error(`${basename(program)} ${what} without saying "${text}":\n${output}`));
        void ended.then((how) => refuse(`ended (${how})`));
        setTimeout(() => refuse(`runs for ${PATIENCE_MS / 1000} s`), PATIENCE_MS).unref();
        look();
      }),
    async end(signal) {
      signal();
      const late = delay(PATIENCE_MS, 'late' as const, { ref: false });
      const how = await Promise.race([ended, late]);
      if (how === 'late') throw new Error(`${basename(program)} does not end:\n${output}`);
      return how;
    },
    kill: (signal) => void child.kill(signal),
    ended,
  };
}
