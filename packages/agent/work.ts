/**
 * `svc-agent work`: runs what the control plane orders, until it is asked to leave.
 *
 *   input open     orders are taken; a broken stream is opened again
 *   input closed   no more orders: what runs is run to its end and reported, then the process leaves
 *   SIGTERM        the same, and what runs is stopped
 *   15 minutes without contact to any control plane: everything is given up
 */
import { hostname } from 'node:os';
import type { Readable } from 'node:stream';
import { createBackoff } from '@svc/spec/backoff.ts';
import { connectControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { watchContact } from './contact-watch.ts';
import type { AgentSettings } from './settings.ts';
import { createWorker } from './worker.ts';
import type { Worker } from './worker.ts';

/** Spread: workers that lost the same control plane must not come back as one. */
const PAUSES = { firstMs: 100, longestMs: 5_000, spread: true };

export async function work(input: {
  settings: AgentSettings;
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  stdin: Readable;
  /** Aborted by SIGTERM. */
  stop: AbortSignal;
  say: (text: string) => void;
}): Promise<number> {
  const { settings, env, version, stop, say } = input;
  const controlPlane = connectControlPlane({ address: settings.controlPlane, tlsCa: settings.tlsCa });
  const leaving = new AbortController();
  const workerToken = (): string => (leaving.signal.aborted ? '' : orders.token());
  const credential = (): string => orders.token();
  const worker = await createWorker({ controlPlane, workerId: settings.workerId, env, workerToken, credential, say });
  const orders = takeOrders({ controlPlane, worker, token: settings.token, version, leaving: leaving.signal });

  input.stdin.on('error', () => {}).once('close', () => leaving.abort());
  input.stdin.resume().once('end', () => leaving.abort());
  stop.addEventListener('abort', () => {
    leaving.abort();
    worker.stop('the agent was asked to stop');
  });

  leaving.signal.addEventListener('abort', () => worker.leave());

  const code = await new Promise<number>((resolve) => {
    const leaveWhenIdle = (): void => {
      if (leaving.signal.aborted && worker.running === 0) resolve(0);
    };
    worker.onIdle(leaveWhenIdle);
    leaving.signal.addEventListener('abort', leaveWhenIdle);
    watchContact({
      controlPlane,
      isConnected: orders.isConnected,
      say,
      onLost() {
        leaving.abort();
        worker.abandon();
        resolve(1);
      },
    });
  });
  await worker.close();
  controlPlane.close();
  return code;
}

function takeOrders(input: {
  controlPlane: ControlPlane;
  worker: Worker;
  token: string;
  version: string;
  leaving: AbortSignal;
}): { isConnected(): boolean; token(): string } {
  const { controlPlane, worker, version, leaving } = input;
  let { token } = input;
  let isConnected = false;
  const pauses = createBackoff(PAUSES);

  function open(): void {
    if (leaving.aborted) return;
    const stream = controlPlane.work({ hostname: hostname(), pid: process.pid, version }, token);
    const close = (): void => stream.cancel();
    leaving.addEventListener('abort', close);
    stream.on('data', ({ assignment, cancel, credential }) => {
      isConnected = true;
      pauses.reset();
      if (credential) token = credential.token;
      if (assignment) worker.accept(assignment);
      if (cancel) worker.cancel(cancel.attempt_ids, cancel.reason);
    });
    let isOver = false;
    const again = (): void => {
      if (isOver) return;
      isOver = true;
      isConnected = false;
      leaving.removeEventListener('abort', close);
      setTimeout(open, pauses.next());
    };
    stream.on('error', again).on('end', again).on('close', again);
  }

  open();
  return { isConnected: () => isConnected, token: () => token };
}
