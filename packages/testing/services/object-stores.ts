/** Emulators of object stores for tests: each a process of its own on a free port, its objects in memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { virtualEnvironment } from '../virtual-environment.ts';
import { freePort } from './free-port.ts';

export type EmulatorProcess = { readonly url: string; readonly port: number; stop(): Promise<void> };

const START_TIMEOUT_MS = 240_000;

export const objectStoresEnvironment = (): Promise<string> =>
  virtualEnvironment({ name: 'object-stores', requirements: [join(import.meta.dirname, 'object-stores.txt')] });

export async function startEmulator(args: (port: number) => readonly string[]): Promise<EmulatorProcess> {
  const python = await objectStoresEnvironment();
  const port = await freePort();
  const child = spawn(python, args(port), { stdio: 'ignore' });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  const url = `http://127.0.0.1:${port}`;
  const giveUp = Date.now() + START_TIMEOUT_MS;
  while (!(await fetch(url).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`the emulator ended with ${child.exitCode}`);
    if (Date.now() > giveUp) throw new Error(`the emulator did not answer within ${START_TIMEOUT_MS / 1000} s`);
    await sleep(50);
  }
  return {
    url,
    port,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
