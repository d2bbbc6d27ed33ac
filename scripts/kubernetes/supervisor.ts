/**
 * Keeps the parts of the cluster running, as a service manager would: one that ends is started again. Tests break them by
 * files, which need no connection to us:
 *
 *   <state>/pids/<name>   its process id, to send it a signal
 *   <state>/held/<name>   while this exists it is not started again
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Component } from './components.ts';
import { report } from './report.ts';

const RESTART_AFTER_MS = 500;

export type Supervisor = {
  start(component: Component): void;
  /** The names of those that run now. */
  running(): string[];
};

export function createSupervisor({ state, logs }: { state: string; logs: string }): Supervisor {
  const running = new Set<string>();
  const [pids, held] = [join(state, 'pids'), join(state, 'held')];
  for (const folder of [pids, held, logs]) mkdirSync(folder, { recursive: true });

  function launch({ name, command: [program = '', ...words] }: Component, mode: 'w' | 'a'): ChildProcess {
    const log = openSync(join(logs, `${name}.log`), mode);
    const child = spawn(program, words, { stdio: ['ignore', log, log] });
    closeSync(log);
    child.on('error', (error) => report(`${name} cannot start: ${error.message}`));
    running.add(name);
    writeFileSync(join(pids, name), `${child.pid ?? ''}\n`);
    return child;
  }

  function keep(component: Component, mode: 'w' | 'a'): void {
    const { name } = component;
    launch(component, mode).once('close', (code, signal) => {
      running.delete(name);
      rmSync(join(pids, name), { force: true });
      report(`${name} ended with ${signal ?? code}`);
      void startAgain(component);
    });
  }

  async function startAgain(component: Component): Promise<void> {
    do await sleep(RESTART_AFTER_MS);
    while (existsSync(join(held, component.name)));
    keep(component, 'a');
  }

  return { start: (component) => keep(component, 'w'), running: () => [...running] };
}
