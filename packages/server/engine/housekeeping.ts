/**
 * The loop for what time causes, every `scheduler.loop_interval_ms`: the scheduler's heartbeat, and less often the
 * removal of expired rows. A tick that fails (the database is unreachable) is logged once per outage and tried again.
 * The loop stops only on request and never runs two ticks at once.
 */
import { randomUUID } from 'node:crypto';
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { deleteOldBudgets } from '../db/identity/login-failures.ts';
import type { Database } from '../db/database.ts';
import { beat, deleteOldHeartbeats, recordStop } from '../db/processes/heartbeats.ts';
import type { Component, ProcessIdentity } from '../db/processes/heartbeats.ts';
import { deleteOldWorkers } from '../db/workers/workers.ts';
import { deleteOldExchanges } from '../db/attempts/token-exchanges.ts';
import { deleteUsedSignIns } from '../db/identity/oidc-sign-ins.ts';
import { deleteExpiredSessions } from '../db/identity/sessions.ts';
import { deleteOldCallbacks } from './sql/callbacks.ts';

const BEAT_EVERY_MS = 5_000;
const CLEAN_EVERY_MS = 60_000;

type Log = { info(message: string): void; warn(details: Coded, message: string): void };

export type Housekeeping = {
  start(): void;
  /** Returns when the database last took the heartbeat, in epoch milliseconds. Undefined before the first one. */
  lastBeat(): number | undefined;
  stop(): Promise<void>;
};

export function createHousekeeping(options: {
  db: Database;
  identity: Parameters<typeof beat>[1];
  intervalMs: number;
  /** Other components that are alive in this process. Each has a heartbeat of its own. */
  alsoAlive?: () => readonly Component[];
  /** What the scheduler does at each tick. */
  onTick: () => Promise<void>;
  /** What it does with each heartbeat. */
  onBeat?: () => Promise<void>;
  log: Log;
}): Housekeeping {
  const { db, identity, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> = Promise.resolve();
  let stopped = false;
  let failing = false;
  let lastBeat = -Infinity;
  let lastBeatAt: number | undefined;
  let lastCleaning = -Infinity;

  const others = new Map<Component, ProcessIdentity>();
  function identityOf(component: Component): ProcessIdentity {
    const known = others.get(component) ?? { ...identity, processId: randomUUID() };
    others.set(component, known);
    return known;
  }

  async function tick(): Promise<void> {
    await options.onTick();
    const now = performance.now();
    if (now - lastBeat >= BEAT_EVERY_MS) {
      await beat(db, identity, 'scheduler');
      for (const component of options.alsoAlive?.() ?? []) await beat(db, identityOf(component), component);
      await options.onBeat?.();
      lastBeat = now;
      lastBeatAt = Date.now();
    }
    if (now - lastCleaning >= CLEAN_EVERY_MS) {
      await deleteExpiredSessions(db);
      await deleteUsedSignIns(db);
      await deleteOldBudgets(db);
      await deleteOldHeartbeats(db);
      await deleteOldWorkers(db);
      await deleteOldCallbacks(db);
      await deleteOldExchanges(db);
      lastCleaning = now;
    }
    if (failing) log.info('scheduler: the database answers again');
    failing = false;
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(() => {
      ticking = tick()
        .catch((error: unknown) => {
          if (!failing) log.warn({ code: 'SVC2004', err: error }, 'scheduler: a tick failed and is tried again');
          failing = true;
        })
        .finally(() => {
          if (!stopped) schedule(options.intervalMs);
        });
    }, delayMs);
  }

  return {
    start: () => schedule(0),
    lastBeat: () => lastBeatAt,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await ticking;
      for (const { processId } of [identity, ...others.values()]) {
        await recordStop(db, processId).catch(() => {}); // this process may stop because of the database
      }
    },
  };
}
