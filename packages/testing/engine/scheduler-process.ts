/** Schedulers in processes of their own, on one database: what they do to one another's limits cannot be seen within one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SCRIPT_ARGUMENTS } from '../node-arguments.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';

export type Order = { register: CompiledSpec } | { trigger: string };
/** When the body of an attempt ran, by a clock that all processes of the machine share. */
export type Body = { run: number; dagId: string; taskId: string; from: number; to: number };

export type SchedulerProcess = {
  send(order: Order): Promise<void>;
  bodies: readonly Body[];
  problems: readonly string[];
  stop(): Promise<void>;
};

export async function startSchedulerProcess(url: string, capacity: number): Promise<SchedulerProcess> {
  const child = fork(fileURLToPath(new URL('scheduler-child.ts', import.meta.url)), [url, String(capacity)], {
    execArgv: [...SCRIPT_ARGUMENTS],
  });
  const bodies: Body[] = [];
  const problems: string[] = [];
  const waiting: (() => void)[] = [];
  child.on('message', (message: { body?: Body; problem?: string }) => {
    if (message.body) bodies.push(message.body);
    else if (message.problem !== undefined) problems.push(message.problem);
    else waiting.shift()?.();
  });
  const answered = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  await answered(); // it is there
  return {
    async send(order) {
      child.send(order);
      await answered();
    },
    bodies,
    problems,
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
